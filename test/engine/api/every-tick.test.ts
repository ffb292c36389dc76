// No silent tick: whatever the schedules, the crashes, the switches and the edits, every occurrence has one answer.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { at, cron, every, jobDef, jobType, type DefOptions, type Schedule } from '../../../src/index.ts';
import { preview } from '../../../src/time/preview.ts';
import { testEngine, type TestEngine } from '../../../src/testing/index.ts';
import { bySize } from '../../support/size.ts';
import { minute, newYear, ticksOf } from './kit.ts';

const slow = jobType('slow', { run: ({ input }) => t.clock.sleep((input as number) * minute) });
let t: TestEngine;

const minutes = fc.integer({ min: 5, max: 200 });
const spread = fc.constantFrom({}, {}, { spread: '20m' } as const);

const schedule: fc.Arbitrary<Schedule> = fc.oneof(
  fc.tuple(minutes, spread).map(([count, options]) => every(`${count}m`, options)),
  fc.tuple(fc.integer({ min: 0, max: 59 }), fc.constantFrom('*', '*/2', '3,4,15'), spread)
    .map(([past, hours, options]) => cron(`${past} ${hours} * * *`, options)),
  fc.integer({ min: 1, max: 3000 }).map((past) => at(newYear + past * minute)),
);

/** Something that happens after some minutes. */
const happening = fc.tuple(
  fc.integer({ min: 1, max: 400 }),
  fc.oneof<fc.Arbitrary<Act>[]>(
    fc.constantFrom('nothing', 'crash', 'restart', 'disable', 'enable').map((what) => ({ what })),
    schedule.map((one) => ({ what: 'edit', schedule: one })),
  ),
);

const options: fc.Arbitrary<DefOptions<unknown>> = fc.record({
  params: fc.constantFrom(0, 0, 8),
  overlap: fc.constantFrom('allow', 'skip', 'queue', 'replace'),
  misfire: fc.constantFrom<NonNullable<DefOptions<unknown>['misfire']>>(
    'skip', 'once', 'all', { policy: 'all', cap: 2, window: '3h' },
  ),
});

/** A time in which one schedule counts. */
interface Span {
  readonly schedule: Schedule;
  readonly from: number;
  to: number;
}


test('every occurrence has exactly one run or one recorded skip (S18, S19, S22)', async () => {
  const example = fc.record({ schedule, options, story: fc.array(happening, { maxLength: 8 }) });
  await fc.assert(
    fc.asyncProperty(example, async ({ schedule: first, options: said, story }) => {
      const def = jobDef('def', slow, { ...said, schedules: first });
      t = await testEngine({ defs: [def] });
      const spans = await live(t, first, story);
      const answers = await answersOf(t);
      const wanted = spans.flatMap(occurrences);
      for (const nominal of wanted) {
        expect(answers.filter(({ from, to }) => from <= nominal && nominal <= to)).toHaveLength(1);
      }
      const counted = answers.reduce((sum, { count }) => sum + count, 0);
      expect(counted).toBe(wanted.length);
      const runs = (await t.runs()).map(({ tick }) => tick!.nominal);
      expect(new Set(runs).size).toBe(runs.length);
      await t.close();
    }),
    { numRuns: bySize({ small: 15, ci: 100 }), seed: 7 },
  );
});

/** Lets the story happen; answers which schedule counted when, up to a moment at which all is answered. */
async function live(engine: TestEngine, first: Schedule, story: readonly (readonly [number, Act])[]): Promise<Span[]> {
  const now = (): number => engine.clock.now();
  const spans: Span[] = [{ schedule: first, from: now(), to: Infinity }];
  const turnTo = (next: Schedule): void => {
    spans.at(-1)!.to = now();
    spans.push({ schedule: next, from: now(), to: Infinity });
  };
  let isCrashed = false;
  let isEnabled = true;
  for (const [after, act] of story) {
    await engine.advance(`${after}m`);
    if (act.what === 'crash') engine.crash();
    if (act.what === 'crash' || act.what === 'restart') isCrashed = act.what === 'crash';
    if (act.what === 'restart') await engine.restart();
    if (isCrashed) continue;
    const current = spans.at(-1)!.schedule;
    if (act.what === 'disable') await engine.engine.disable('def');
    if (act.what === 'enable') await engine.engine.enable('def');
    // A schedule begins anew when its definition is enabled again; one that an edit leaves as it is goes on.
    if (act.what === 'enable' && !isEnabled) turnTo(current);
    if (act.schedule) await engine.engine.override('def', { schedules: [act.schedule] });
    if (act.schedule && JSON.stringify(act.schedule) !== JSON.stringify(current)) turnTo(act.schedule);
    if (act.what === 'disable' || act.what === 'enable') isEnabled = act.what === 'enable';
  }
  if (isCrashed) await engine.restart();
  await engine.drain();
  await engine.engine.override('def', { schedules: [] });
  spans.at(-1)!.to = now();
  return spans;
}

interface Act {
  readonly what: 'nothing' | 'crash' | 'restart' | 'disable' | 'enable' | 'edit';
  readonly schedule?: Schedule;
}

const occurrences = ({ schedule: one, from, to }: Span): number[] =>
  preview(one, { from, count: 1000 }).map(({ nominal }) => nominal).filter((nominal) => nominal <= to);

async function answersOf({ engine }: TestEngine): Promise<{ from: number; to: number; count: number }[]> {
  return (await ticksOf(engine, 'def')).map((tick) => ({
    from: tick.nominal,
    to: 'to' in tick ? (tick.to ?? tick.nominal) : tick.nominal,
    count: 'count' in tick ? (tick.count ?? 1) : 1,
  }));
}
