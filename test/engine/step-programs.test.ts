// Random programs of steps, sleeps and waits, executed by processes that crash, with pauses and wrong answers between.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jobType, Refusal, type Context, type RunHandle } from '../../src/index.ts';
import { bySize } from '../support/size.ts';
import { testEngine, type TestEngine } from '../../src/testing/index.ts';

type Part =
  | { readonly do: 'step' | 'fail' | 'wait'; readonly name: string }
  | { readonly do: 'sleep'; readonly name: string; readonly seconds: number }
  | { readonly do: 'together'; readonly parts: readonly Part[] };

const leaf: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ do: fc.constantFrom('step' as const, 'step' as const, 'fail' as const), name: fc.constant('') }),
  fc.record({ do: fc.constant('wait' as const), name: fc.constant('') }),
  fc.record({ do: fc.constant('sleep' as const), name: fc.constant(''), seconds: fc.integer({ min: 0, max: 5 }) }),
);
const program = fc.array(fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('together' as const), parts: fc.array(leaf, { minLength: 2, maxLength: 3 }) }) },
), { minLength: 1, maxLength: 6 });

/** Names the parts by their places. */
const named = (parts: readonly Part[], prefix = ''): Part[] => parts.map((part, at) => (part.do === 'together'
  ? { ...part, parts: named(part.parts, `${prefix}${at}.`) } : { ...part, name: `${prefix}${at}` }));

const doneTexts = { step: 'did', fail: 'did', sleep: 'slept', wait: 'heard' } as const;

const wantedOf = (part: Part): unknown => (part.do === 'together' ? part.parts.map(wantedOf) : `${doneTexts[part.do]} ${part.name}`);

const waitsOf = (part: Part): string[] =>
  (part.do === 'together' ? part.parts.flatMap(waitsOf) : part.do === 'wait' ? [part.name] : []);

const heard = z.string().startsWith('heard');

/** Executes programs, and crashes at given points: before a result is stored, or after it. */
class Execution {
  readonly #crashes: number[];
  readonly #crash: () => void;
  readonly #failed = new Set<string>();
  readonly #stored = new Set<string>();
  /** The steps that were executed although their result had been stored. */
  readonly repeated: string[] = [];
  isCrashed = false;
  #onCrash = (): void => {};

  /** Called inside the work of each step. */
  readonly #inside: () => Promise<void>;

  constructor(crashes: readonly number[], crash: () => void, inside: () => Promise<void>) {
    this.#crashes = [...crashes];
    this.#crash = crash;
    this.#inside = inside;
  }

  /** Resolves when the process crashes: what it was asked before gets no answer. */
  untilCrash(): Promise<void> {
    return new Promise((resolve) => (this.#onCrash = resolve));
  }

  async execute(part: Part, context: Context): Promise<unknown> {
    if (part.do === 'together') return Promise.all(part.parts.map((each) => this.execute(each, context)));
    if (part.do === 'sleep') {
      await context.sleep(part.name, `${part.seconds}s`);
      this.#pass();
      return `slept ${part.name}`;
    }
    if (part.do === 'wait') {
      const answer = await context.waitFor(part.name, { schema: heard });
      this.#pass();
      return answer;
    }
    const result = await context.step(part.name, async () => {
      if (this.#stored.has(part.name)) this.repeated.push(part.name);
      if (part.do === 'fail' && this.#failed.size < this.#failed.add(part.name).size) throw new Error('at first it fails');
      this.#pass();
      await this.#inside();
      return `did ${part.name}`;
    });
    this.#stored.add(part.name);
    this.#pass();
    return result;
  }

  /** A place at which the process may crash: after as many places as the next number says. */
  #pass(): void {
    if (this.#crashes.length === 0) return;
    this.#crashes[0]! -= 1;
    if (this.#crashes[0]! >= 0) return;
    this.#crashes.shift();
    this.isCrashed = true;
    this.#crash();
    this.#onCrash();
  }
}

/** What happens between two turns of the clock: a right answer, a wrong one, a pause, or nothing. */
type Turn = 'answer' | 'wrong' | 'pause' | 'nothing';

async function between(t: TestEngine, run: RunHandle<unknown>, turn: Turn, waits: string[]): Promise<void> {
  const [name] = waits;
  const { state } = await run.get();
  if (turn === 'pause' && state === 'pending') await t.engine.pauseJobRun(run.id);
  else if (state === 'held') await t.engine.resumeJobRun(run.id);
  if (name === undefined || state === 'ended') return;
  // The program may not have asked yet. A wrong answer that comes early is stored, and refused by the handler.
  if (turn === 'wrong') await run.answer(name, 'nonsense').catch(refusalOnly);
  if (turn !== 'answer') return;
  const isStored = await run.answer(name, `heard ${name}`).then(() => true, refusalOnly);
  const at = waits.indexOf(name);
  if (at < 0) return; // another turn has answered it meanwhile
  waits.splice(at, 1);
  // A refused one is tried again later: a wrong answer may have come first, or the reply was lost in a crash.
  if (!isStored) waits.push(name);
}

const refusalOnly = (error: unknown): false => {
  if (error instanceof Refusal) return false;
  throw error;
};

test('any program of steps, sleeps and waits under any crashes and pauses gives the result of a run without them', async () => {
  const crashes = fc.array(fc.nat({ max: 4 }), { maxLength: 3 });
  const turns = fc.array(fc.constantFrom<Turn>('answer', 'wrong', 'pause', 'nothing'), { maxLength: 8 });
  await fc.assert(fc.asyncProperty(program, crashes, turns, turns, async (parts, points, drawn, drawnInside) => {
    const all = named(parts);
    const waits = all.flatMap(waitsOf);
    const during = [...drawnInside];
    const inside = async (): Promise<void> => {
      const turn = during.shift();
      if (turn === 'answer' && !execution.isCrashed) await between(t, run, turn, waits);
    };
    const execution = new Execution(points, () => t.crash(), inside);
    const type = jobType('program', {
      retry: { attempts: 20, base: '1s', crashes: 20 },
      run: async (context) => {
        const results: unknown[] = [];
        for (const part of all) results.push(await execution.execute(part, context));
        return results;
      },
    });
    const t: TestEngine = await testEngine({ types: [type] });
    const run: RunHandle<unknown> = await t.createJobRun(type, { delay: '1s' });
    for (let rounds = 0; rounds < 100 && (await run.get()).state !== 'ended'; rounds += 1) {
      await Promise.race([between(t, run, drawn[rounds] ?? 'answer', waits), execution.untilCrash()]);
      await t.advance('5s');
      if (execution.isCrashed) await t.restart();
      execution.isCrashed = false;
    }
    expect((await run.get()).state).toBe('ended');
    expect(await run.result()).toEqual(all.map(wantedOf));
    expect(execution.repeated).toEqual([]);
    expect(new Set((await run.steps()).map(({ name }) => name)).size).toBe((await run.steps()).length);
    await t.close();
  }), { numRuns: bySize({ small: 15, ci: 200 }) });
});
