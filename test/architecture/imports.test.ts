// The rules of the house, as ARCHITECTURE.md states them: each is checked on all of src, and seen to fail on a fake.
import { describe, expect, test } from 'vitest';
import { parseSource, readSources, type Source } from './source.ts';

/** Source text by path, standing in for the repository. */
type Fake = Record<string, string>;

interface Rule {
  title: string;
  /** Sentences that say which file breaks the rule, and how. */
  violations: (sources: Source[]) => string[];
  /** Each breaks the rule in exactly one place. */
  broken: Fake[];
  /** Keeps the rule, though it looks like breaking it. */
  sound: Fake;
}

const inspector = 'src/store/inspection/inspector.ts';
/** They read the tables of other systems, which no adapter of ours knows. */
const importReaders = ['src/import/postgres-session.ts', 'src/import/pg-boss.ts', 'src/import/graphile-worker.ts'];

/** From the ground up. A file may import from its own floor and from those below. */
const floors = [
  ['refusal', 'version', 'did-you-mean', 'packaged-file'],
  ['random', 'logger', 'time'],
  ['model'],
  ['vocabulary'],
  ['store'],
  ['verify'],
  ['conformance'],
  ['apply'],
  ['jobs'],
  ['engine'],
  ['builtin', 'open', 'import'],
  ['http', 'bedrock', 'cli', 'client', 'testing'],
  ['server'],
  ['index'],
];

/** The floors inside a room, from the ground up: folders, and files by their names without `.ts`. */
const innerFloors: Record<string, readonly (readonly string[])[]> = {
  'src/engine/': [
    ['handler'],
    ['declare'],
    ['progress', 'inspect'],
    ['isolation'],
    ['attempt'],
    ['loops'],
    ['stores', 'bulk', 'backfill', 'follow-output', 'run-handle', 'flow-handle', 'worker-parts', 'living-builds'],
    ['worker'],
    ['store-workers', 'type-catalogue'],
    ['reads', 'audit-trail'],
    ['definition-actions', 'definition-documents', 'run-actions', 'answer-actions', 'run-creation', 'flow-creation', 'inbox-actions',
      'inbox-runs', 'limit-actions', 'pause-actions', 'alert-actions', 'saved-view-actions', 'run-import'],
    ['backfill-actions'],
    ['declarations', 'transaction-runs'],
    ['engine'],
  ],
  'src/engine/isolation/': [
    ['messages', 'error-transfer', 'frames', 'printout'],
    ['host', 'child'],
    ['hosted-call', 'idle-hosts'],
    ['isolation'],
  ],
  'src/store/': [
    ['query', 'not-a-transaction', 'text-cache', 'listed-ids', 'id-scan', 'batcher', 'url-options', 'feed-position', 'feed-cursor', 'record-id'],
    ['port', 'job-body', 'tally-sum', 'tally-row'],
    ['store', 'job-columns'],
    ['coded', 'row', 'feed-entry', 'name-filter', 'waiting-version-sum', 'paging', 'definition-jobs', 'gate-admission', 'job-line', 'fair-share', 'share-walk', 'share-round', 'share-line', 'share-stops', 'spreads', 'scope-gates', 'waiting-job', 'limit-use', 'instance-row', 'inbox-row', 'edge-row', 'many-edges', 'step-row', 'taken-instance', 'inspection'],
    ['memory', 'sqlite', 'postgres'],
  ],
  'src/store/memory/': [['following', 'steps'], ['records', 'feed', 'inbox', 'memos', 'instances'], ['claim', 'latest-runs', 'definition-versions'], ['limits'], ['store']],
  'src/store/sqlite/': [['errors', 'module', 'driver', 'file-watch', 'hide-parameters', 'connection', 'schema', 'wake', 'end-watch', 'store-transaction', 'caller'], ['read'], ['maintain'], ['write'], ['claim'], ['store']],
  'src/store/postgres/': [['sql', 'caller'], ['schema', 'read'], ['maintain'], ['write'], ['wake', 'end-notices', 'claim'], ['store']],
  'src/jobs/': [
    ['checks', 'ids', 'creation-hook', 'joined-changes', 'skip-ranges', 'decoded-memos'],
    ['draft'],
    ['new-jobs', 'definition-draft', 'hooked-ticks', 'recorded-ticks', 'record-writing', 'spreads'],
    ['catalogue', 'tick-knowledge', 'limits', 'alerts', 'def-followers', 'follower-runs'],
    ['proceed', 'answer', 'latest-sleep', 'edge-outcomes', 'waiting-in-vain', 'reopening', 'reopened-edges', 'work-of', 'create', 'create-flow', 'create-followers', 'settle', 'repair', 'operate', 'retry', 'flow', 'work', 'overlap-keys', 'start-limits', 'tick', 'define', 'definition-cache', 'define-together', 'audit', 'pauses', 'alert-watch', 'saved-views'],
    ['job-writing', 'inbox', 'backfill'],
    ['bedrock'],
  ],
};

const rules: Rule[] = [
  {
    title: 'every file of src stands on a floor of the plan',
    violations: (sources) =>
      sources.filter(({ path }) => isOurs(path) && floorOf(path) === -1).map(({ path }) => `${path} has no floor`),
    broken: [{ 'src/utils/strings.ts': '' }, { 'src/types.ts': '' }],
    sound: { 'src/model/job.ts': '', 'src/jobs.ts': '', 'src/jobs/workers.ts': '', 'src/index.ts': '' },
  },
  {
    title: 'no arrow points back up',
    violations: (sources) =>
      badImports(sources, (from, to) => isOurs(from) && isOurs(to) && floorOf(to) > floorOf(from)),
    broken: [
      { 'src/time/clock.ts': `import { Job } from '../model/job.ts';` },
      { 'src/model/job.ts': `import type { Store } from '../store/store.ts';` },
      { 'src/model/job.ts': `import { runState } from '../vocabulary/jobrun.ts';` },
      { 'src/refusal.ts': `export { parse } from './time/duration.ts';` },
      { 'src/store/memory/store.ts': `export * from '../../apply.ts';` },
      { 'src/jobs.ts': `const { Engine } = await import('./engine/engine.ts');` },
      { 'src/engine/engine.ts': `export let server: import('../http/server.ts').Server;` },
      { 'src/engine/loops/claimer.ts': `new Worker(new URL('../../cli/main.ts', import.meta.url));` },
    ],
    sound: {
      'src/http/server.ts': `import '../../open.ts'; import '../../vocabulary/jobrun.ts';`,
      'src/engine/engine.ts': `import '../vocabulary/jobrun.ts';`,
      'src/model/job.ts': `import { state } from './state.ts'; // not from '../store/store.ts'`,
    },
  },
  {
    title: 'every file of the engine, of jobs, of the store and of an adapter stands on an inner floor',
    violations: (sources) =>
      sources.flatMap(({ path }) =>
        innerRooms(path).filter((room) => innerFloorOf(room, path) === -1).map((room) => `${path} has no floor in ${room}`)),
    broken: [{ 'src/store/sqlite/helpers.ts': '' }, { 'src/engine/common/names.ts': '' }],
    sound: { 'src/store/sqlite/write/anything.ts': '', 'src/engine/engine.ts': '', 'src/model/anything.ts': '' },
  },
  {
    title: 'no arrow points back up inside the engine, jobs, the store or an adapter',
    violations: (sources) =>
      badImports(sources, (from, to) =>
        innerRooms(from).some((room) => to.startsWith(room) && innerFloorOf(room, to) > innerFloorOf(room, from))),
    broken: [
      { 'src/engine/handler/context.ts': `import type { Attempt } from '../attempt/attempt.ts';` },
      { 'src/engine/attempt/finisher.ts': `import { Claimer } from '../loops/claimer.ts';` },
      { 'src/store/postgres/sql/database.ts': `import { load } from '../read/find.ts';` },
      { 'src/store/sqlite/write/commit.ts': `import { candidates } from '../claim/claim.ts';` },
      { 'src/store/query.ts': `import type { Store } from './store.ts';` },
    ],
    sound: {
      'src/engine/attempt/runner.ts': `import './attempt.ts'; import '../handler/context.ts'; import '../../jobs.ts';`,
      'src/store/postgres/claim/claim.ts': `import '../write/commit.ts'; import '../sql/database.ts';`,
    },
  },
  {
    title: 'there are no circles, not even of types',
    violations: circles,
    broken: [
      { 'src/model/job.ts': `import type { A } from './state.ts';`, 'src/model/state.ts': `import './job.ts';` },
      { 'src/time/cron.ts': `import './cron.ts';` },
      {
        'src/a.ts': `import './b.ts';`,
        'src/b.ts': `import './c.ts';`,
        'src/c.ts': `import './b.ts'; import './d.ts';`,
        'src/d.ts': '',
      },
    ],
    sound: {
      'src/a.ts': `import './b.ts'; import './c.ts';`,
      'src/b.ts': `import './d.ts';`,
      'src/c.ts': `import './d.ts';`,
      'src/d.ts': '',
    },
  },
  {
    title: 'the model is pure: it imports only itself, time without its clock, and refusal',
    violations: (sources) =>
      badImports(sources, (from, to) => {
        const isPure = isWithin(to, ['src/model/', 'src/time/', 'src/refusal.ts']) && to !== 'src/time/clock.ts';
        return from.startsWith('src/model/') && !isPure;
      }),
    broken: [
      { 'src/model/machine.ts': `import { systemClock } from '../time/clock.ts';` },
      { 'src/model/machine.ts': `import { newId } from '../random.ts';` },
      { 'src/model/machine.ts': `import { readFileSync } from 'node:fs';` },
      { 'src/model/machine.ts': `import { z } from 'zod';` },
    ],
    sound: { 'src/model/machine.ts': `import '../refusal.ts'; import '../time/schedule.ts'; import './job.ts';` },
  },
  {
    title: 'a vocabulary knows only the model and what is below it',
    violations: (sources) =>
      badImports(sources, (from, to) => {
        const isKnown = isWithin(to, ['src/vocabulary/', 'src/model/', 'src/time/', 'src/refusal.ts']);
        return from.startsWith('src/vocabulary/') && !isKnown;
      }),
    broken: [
      { 'src/vocabulary/jobrun.ts': `import '../store/store.ts';` },
      { 'src/vocabulary/jobrun.ts': `import 'node:fs';` },
    ],
    sound: { 'src/vocabulary/jobrun.ts': `import '../model/job.ts'; import '../refusal.ts'; import './standing.ts';` },
  },
  {
    title: 'of the rest, the dashboard sees only the HTTP contract',
    violations: (sources) =>
      badImports(sources, (from, to) => !isOurs(from) && isOurs(to) && to !== 'src/http/contract.ts'),
    broken: [{ 'dashboard/src/runs.tsx': `import type { Job } from '../../src/model/job.ts';` }],
    sound: { 'dashboard/src/runs.tsx': `import '../../src/http/contract.ts'; import './app.tsx';` },
  },
  {
    title: 'of the HTTP contract, the dashboard takes only types',
    violations: (sources) =>
      sources
        .filter(({ path }) => path.startsWith('dashboard/'))
        .flatMap(({ path, values }) => values.filter(isOurs).map((target) => `${path} takes values of ${target}`)),
    broken: [
      { 'dashboard/src/api.ts': `import { routes } from '../../src/http/contract.ts';` },
      { 'dashboard/src/api.ts': `import { type Route, routes } from '../../src/http/contract.ts';` },
      { 'dashboard/src/api.ts': `import '../../src/http/contract.ts';` },
      { 'dashboard/src/api.ts': `export * from '../../src/http/contract.ts';` },
      { 'dashboard/src/api.ts': `const { routes } = await import('../../src/http/contract.ts');` },
    ],
    sound: {
      'dashboard/src/api.ts': `import type { Route } from '../../src/http/contract.ts'; import './router.ts';`,
      'dashboard/src/run.ts': `export type { RunView } from '../../src/http/contract.ts';`,
      'src/http/server.ts': `import { routes } from './contract.ts';`,
    },
  },
  {
    title: 'only apply commits to a store',
    // The store makes commit, and the conformance suite tries it.
    violations: (sources) => badUses(sources, ['.commit()'], ['src/apply.ts', 'src/apply/', 'src/store/', 'src/conformance/']),
    broken: [
      { 'src/jobs.ts': 'await store.commit(changes);' },
      { 'src/engine/attempt/finisher.ts': 'await this.#store?.commit([change]);' },
    ],
    sound: {
      'src/apply.ts': 'await store.commit(changes);',
      'src/jobs.ts': `commit(changes); const words = '.commit()'; // never store.commit()`,
    },
  },
  {
    title: 'only open names an adapter',
    violations: (sources) => {
      const adapters = ['src/store/memory', 'src/store/sqlite', 'src/store/postgres'];
      const adapterOf = (path: string): string | undefined => adapters.find((adapter) => path.startsWith(adapter));
      return badImports(sources, (from, to) => {
        const adapter = adapterOf(to);
        // The suite holds the others against the memory store.
        if (from.startsWith('src/conformance/') && to === 'src/store/memory/store.ts') return false;
        return adapter !== undefined && adapter !== adapterOf(from) && !/^src\/open(\.ts|\/)/.test(from);
      });
    },
    broken: [
      { 'src/engine/engine.ts': `import { MemoryStore } from '../store/memory/store.ts';` },
      { 'src/store/index.ts': `export { SqliteStore } from './sqlite/store.ts';` },
      { 'src/store/sqlite/store.ts': `import { quote } from '../postgres/quote.ts';` },
      { 'src/conformance/suite.ts': `import { SqliteStore } from '../store/sqlite/store.ts';` },
    ],
    sound: {
      'src/open.ts': `import './store/memory/store.ts'; import './store/sqlite/store.ts';`,
      'src/open/store.ts': `import '../store/postgres/store.ts';`,
      'src/conformance/suite.ts': `import '../store/memory/store.ts';`,
      'src/store/sqlite/store.ts': `import './claim/claim.ts'; import '../store.ts';`,
    },
  },
  {
    title: 'only the clock reads the time or sets a timer',
    violations: (sources) => {
      const timers = ['setTimeout', 'setInterval', 'setImmediate'];
      const modules = ['node:timers', 'node:timers/promises', 'timers', 'timers/promises'];
      const readers = ['Date.now', 'new Date()', 'Date()', 'performance.now', 'process.hrtime', 'process.uptime'];
      const uses = [
        ...readers,
        'Temporal.Now',
        ...timers.flatMap((name) => [name, `globalThis.${name}`, `global.${name}`]),
        'AbortSignal.timeout',
      ];
      return [
        ...badUses(sources, uses, ['src/time/clock.ts', 'dashboard/']),
        ...badImports(sources, (from, to) => isOurs(from) && from !== 'src/time/clock.ts' && modules.includes(to)),
      ];
    },
    broken: [
      { 'src/model/job.ts': 'const now = Date.now();' },
      { 'src/model/job.ts': 'const read = Date.now;' },
      { 'src/model/job.ts': `Date['now']();` },
      { 'src/time/cron.ts': 'const now = new Date();' },
      { 'src/time/cron.ts': 'const now = new Date;' },
      { 'src/time/cron.ts': 'const now = Date();' },
      { 'src/jobs.ts': 'const start = performance.now();' },
      { 'src/jobs.ts': 'const start = process.hrtime.bigint();' },
      { 'src/engine/loops/claimer.ts': 'setTimeout(run, 10);' },
      { 'src/engine/loops/claimer.ts': 'const timers = { setTimeout };' },
      { 'src/engine/loops/claimer.ts': 'globalThis.setInterval(run, 10);' },
      { 'src/engine/loops/claimer.ts': 'setImmediate(run);' },
      { 'src/engine/loops/claimer.ts': `import { scheduler } from 'node:timers/promises';` },
      { 'src/http/server.ts': 'fetch(url, { signal: AbortSignal.timeout(10) });' },
    ],
    sound: {
      'src/time/clock.ts': 'setTimeout(run, Date.now() - new Date().getTime());',
      'src/model/job.ts': `const date = new Date(now); clock.now(); // not Date.now()\nconst text = 'Date.now()';`,
      'src/http/server.ts': 'socket.setTimeout(10); interface Clock { setTimeout(ms: number): void }',
    },
  },
  {
    title: 'only random draws random numbers',
    violations: (sources) => {
      const names = ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'getRandomValues'];
      const uses = ['Math.random', ...names.flatMap((name) => [name, `.${name}()`])];
      return badUses(sources, uses, ['src/random.ts', 'dashboard/']);
    },
    broken: [
      { 'src/model/retry.ts': 'const jitter = Math.random();' },
      { 'src/engine/engine.ts': 'const id = crypto.randomUUID();' },
      { 'src/engine/engine.ts': `import { randomInt } from 'node:crypto';` },
      { 'src/engine/engine.ts': 'globalThis.crypto.getRandomValues(bytes);' },
    ],
    sound: {
      'src/random.ts': `import { randomUUID } from 'node:crypto'; randomUUID(); Math.random();`,
      'src/model/retry.ts': 'const jitter = random(); // not Math.random()',
      'src/store/sqlite/hash.ts': `import { createHash } from 'node:crypto';`,
    },
  },
  {
    title: 'no SQL stands outside an adapter',
    violations: (sources) =>
      sources
        .filter(({ path }) => !speaksSql(path))
        .flatMap(({ path, texts }) => texts.filter(isSql).map((text) => `${path} holds SQL: ${text.trim()}`)),
    broken: [
      { 'src/jobs.ts': `query('select id from job');` },
      { 'src/jobs.ts': 'query(`\n  SELECT *\n  FROM job\n`);' },
      { 'src/jobs.ts': `query('select now()');` },
      { 'src/jobs.ts': `query('select 1');` },
      { 'src/jobs.ts': 'query(`with due as materialized (select 1) table due`);' },
      { 'src/jobs.ts': `query('insert into job values (1)');` },
      { 'src/jobs.ts': `query('insert or ignore into job values (1)');` },
      { 'src/jobs.ts': 'query(`update ${table} set state = 1`);' },
      { 'src/jobs.ts': `query('delete from job');` },
      { 'src/store/migrations.ts': `query('create unique index job_key on job (key)');` },
      { 'src/open.ts': `query('PRAGMA journal_mode = wal');` },
      { 'src/open.ts': `query('begin immediate');` },
      { 'src/import/bullmq.ts': `query('select id from job');` },
    ],
    sound: {
      'src/store/sqlite/claim/claim.ts': `query('select id from job');`,
      'src/store/postgres/claim/claim.ts': `query('update job set state = 1');`,
      'src/cli/runs.ts': `help('select runs by state', 'delete a run', 'update'); emit('commit', 'begin');`,
      'src/jobs.ts': `// select id from job`,
    },
  },
  {
    title: 'no database driver is imported outside its adapter',
    violations: (sources) => {
      // The process that executes users' SQL has a database in memory.
      const homes = new Map([['node:sqlite', ['src/store/sqlite/', inspector]], ['pg', ['src/store/postgres/', importReaders[0]!]]]);
      return badImports(sources, (from, to) => homes.has(to) && !isWithin(from, homes.get(to)!));
    },
    broken: [
      { 'src/open.ts': `import pg from 'pg';` },
      { 'src/import/pg-boss.ts': `import pg from 'pg';` },
      { 'src/store/postgres/store.ts': `import { DatabaseSync } from 'node:sqlite';` },
    ],
    sound: {
      'src/store/sqlite/store.ts': `import { DatabaseSync } from 'node:sqlite';`,
      'src/store/postgres/store.ts': `import pg from 'pg';`,
    },
  },
];

describe('the rules of the house', () => {
  const sources = [...readSources('src'), ...readSources('dashboard')];
  for (const { title, violations } of rules) {
    test(title, () => expect(violations(sources)).toEqual([]));
  }
});

describe('a broken rule is seen', () => {
  for (const { title, violations, broken } of rules) {
    for (const fake of broken) {
      test(`${title}: ${summary(fake)}`, () => expect(violations(parse(fake))).toHaveLength(1));
    }
  }
});

describe('what only looks like a broken rule is let be', () => {
  for (const { title, violations, sound } of rules) {
    test(title, () => expect(violations(parse(sound))).toEqual([]));
  }
});

function summary(fake: Fake): string {
  return Object.entries(fake).flat().join(' ').replace(/\s+/g, ' ').trim();
}

function parse(fake: Fake): Source[] {
  return Object.entries(fake).map(([path, text]) => parseSource(path, text));
}

function isOurs(path: string): boolean {
  return path.startsWith('src/');
}

/** Higher is further from the ground; -1 is nowhere. */
function floorOf(path: string): number {
  const room = path.split('/')[1]!.replace(/\.ts$/, '');
  return floors.findIndex((rooms) => rooms.includes(room));
}

const innerRooms = (path: string): string[] => Object.keys(innerFloors).filter((room) => path.startsWith(room));

function innerFloorOf(room: string, path: string): number {
  const name = path.slice(room.length).split('/')[0]!.replace(/\.ts$/, '');
  return innerFloors[room]!.findIndex((names) => names.includes(name));
}

function isWithin(path: string, places: string[]): boolean {
  return places.some((place) => path.startsWith(place));
}

function badImports(sources: Source[], isBad: (from: string, to: string) => boolean): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.filter((target) => isBad(path, target)).map((target) => `${path} imports ${target}`));
}

function badUses(sources: Source[], names: string[], allowedIn: string[]): string[] {
  return sources
    .filter(({ path }) => !isWithin(path, allowedIn))
    .flatMap(({ path, uses }) => uses.filter((use) => names.includes(use)).map((use) => `${path} uses ${use}`));
}

function speaksSql(path: string): boolean {
  return isWithin(path, ['src/store/sqlite/', 'src/store/postgres/', inspector, ...importReaders]);
}

function isSql(text: string): boolean {
  // Anchored where a sentence for people could hold the same word.
  const shapes = [
    /^\s*select\s[^]*\sfrom\s/i,
    /^\s*select\s+[\w.]*[\d(]/i,
    /^\s*with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\s+((not\s+)?materialized\s+)?\(/i,
    /\binsert\s+(or\s+\w+\s+)?into\s/i,
    /\bupdate\s+(or\s+\w+\s+)?\S+\s+set\s/i,
    /\bdelete\s+from\s/i,
    /\b(create|alter|drop)\s+(unique\s+|temp\s+|temporary\s+|unlogged\s+)?(table|index|trigger)\b/i,
    /^\s*begin\s+(immediate|exclusive|deferred|transaction|isolation)\b/i,
    /^\s*pragma\s+\w/i,
  ];
  return shapes.some((shape) => shape.test(text));
}

/** Each cycle once, as the path around it. */
function circles(sources: Source[]): string[] {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, way: string[]): void => {
    if (way.includes(path)) {
      found.push([...way.slice(way.indexOf(path)), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const target of importsOf.get(path) ?? []) walk(target, [...way, path]);
    done.add(path);
  };
  for (const { path } of sources) walk(path, []);
  return found;
}
