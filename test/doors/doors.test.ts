// One rule, every door: the same attempts have the same answers, whoever asks and whether or not it has the code.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Engine } from '../../src/index.ts';
import { storeKinds, World, type StoreKind } from '../engine/processes/world.ts';
import { world as httpWorld, type World as HttpWorld } from '../http/world.ts';
import { bySize } from '../support/size.ts';
import { attempts, defs, open, types, type Attempt } from './attempts.ts';
import { commandLine, http, library, type Door } from './doors.ts';

/** The rules are above the stores: in npm test each attempt is made on one of them in turn, in the proof on all. */
const attemptsOn = (kind: StoreKind) => attempts
  .map((attempt, index) => ({ ...attempt, index }))
  .filter(({ index }) => bySize({ small: storeKinds[index % storeKinds.length] === kind, ci: true }));

describe.each(storeKinds)('on $name', (kind) => {
  let place: World;
  let engine: Engine;
  let servers: HttpWorld[];
  let doors: Door[];

  beforeAll(async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    place = await World.create(kind);
    engine = new Engine({ store: place.url, types, defs });
    await engine.resume();
    const run = await engine.createJobRun(open);
    await place.until('the start', async () => (await run.get()).state === 'running');
    const withCode = await httpWorld({ store: place.url, engine: { types, defs } });
    const without = await httpWorld({ store: place.url });
    servers = [withCode, without];
    doors = [
      library(engine),
      http('HTTP of a server with the code', withCode),
      http('HTTP of a server without the code', without),
      http('the requests of the dashboard', without, { origin: without.url, 'sec-fetch-site': 'same-origin' }),
      commandLine(place.url),
    ];
  });

  afterAll(async () => {
    vi.restoreAllMocks();
    await Promise.all(servers.map((server) => server.close()));
    await engine.close({ patience: '1ms' });
    await place[Symbol.asyncDispose]();
  });

  test.each(attemptsOn(kind))('$asks $title', async (attempt) => {
    for (const door of doors) {
      const made = `${attempt.index} ${door.name}`;
      await engine.override('edited', null);
      if (attempt.before) await engine.override('edited', attempt.before);
      const code = await door.ask(attempt, made);
      expect([door.name, code === null ? await whatWasMade(attempt, made) : familyOf(code)]).toEqual([
        door.name, typeof attempt.answer === 'string' ? attempt.answer : expect.objectContaining(attempt.answer),
      ]);
      await clear(made);
    }
  });

  async function whatWasMade(attempt: Attempt, made: string): Promise<object> {
    if ('define' in attempt.asks) return (await engine.definition(made)).spec;
    if ('edit' in attempt.asks) return (await engine.definition(attempt.asks.edit)).spec;
    const { jobs } = await engine.find({ tags: { attempt: made } });
    expect(jobs).toHaveLength(1);
    return jobs[0]!;
  }

  /** A key that one door has taken must not be in the way of the next. */
  async function clear(made: string): Promise<void> {
    const find = async () => (await engine.find({ tags: { attempt: made }, standings: ['pending', 'held', 'running'] })).jobs;
    for (const { id } of (await find()).filter(({ due }) => due > engine.now())) await engine.stopJobRun(id);
    await place.until('the end', async () => (await find()).every(({ type }) => type === 'nobody.knows'));
  }
});

/** Each door has its own words for what it cannot read; what the rules refuse has the same code everywhere. */
const familyOf = (code: string): string =>
  code.startsWith('malformed.') && code !== 'malformed.input' ? 'malformed' : code;
