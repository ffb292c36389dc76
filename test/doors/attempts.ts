// Attempts to create and change runs and definitions, right and wrong, with the answer that every door must give.
import { z } from 'zod';
import { every, jobDef, jobType, limit, type DefChanges } from '../../src/index.ts';
import { untilTold } from '../engine/api/kit.ts';

const never = every('1000d');

export const report = jobType('report', {
  input: z.object({ year: z.number(), format: z.enum(['pdf', 'csv']).optional() }),
  timeout: '1s',
  retry: { attempts: 2 },
  priority: 7,
  run: () => null,
});
export const alone = jobType('alone', { onePerType: true, run: ({ signal }) => untilTold(signal) });
const perTenant = jobType('perTenant', {
  input: z.object({ tenant: z.string() }), limit: { key: 'tenant', concurrency: 2 }, concurrency: 5, run: () => null,
});
const named = jobType('named', {
  input: z.object({ tenant: z.string().optional(), size: z.number().optional() }),
  limits: [
    limit('mail', { rate: '1000000/s', burst: 9 }), limit('tenant', { key: 'tenant', concurrency: 100 }),
  ],
  cost: { mail: 'size' },
  run: () => null,
});
const usesText = (uses: [string, string | null][], costs = ''): string =>
  `any/named/////${encodeURIComponent(JSON.stringify(uses))}${costs}`;
const plain = jobType('plain', { run: () => null });
export const types = [report, alone, perTenant, named, plain];

const params = { year: 2026 };
export const open = jobDef('open', alone);
export const defs = [
  open,
  jobDef('yearly', report, { params, schedules: never, priority: 3, tags: { by: 'code' } }),
  jobDef('template', report),
  jobDef('disabled', report, { params, enabled: false }),
  jobDef('scheduledOnly', report, { params, schedules: never, manualRuns: false }),
  jobDef('edited', report, { params, schedules: never, retry: { attempts: 4 }, retention: '1d', leaderOnly: true }),
];

/** What is asked: a run of a type or definition, a new definition of a type, or a change of a definition. */
export interface Attempt {
  readonly title: string;
  readonly asks: { readonly run: string } | { readonly runDef: string } | { readonly define: string } | { readonly edit: string };
  readonly body: Readonly<Record<string, unknown>>;
  /** What was changed before. */
  readonly before?: DefChanges;
  /** The code of the refusal; or of what was made, what must be so. */
  readonly answer: string | object;
}

const run = (type: string, title: string, body: Attempt['body'], answer: Attempt['answer']): Attempt =>
  ({ title, asks: { run: type }, body, answer });
const runDef = (def: string, title: string, body: Attempt['body'], answer: Attempt['answer']): Attempt =>
  ({ title, asks: { runDef: def }, body, answer });
const define = (type: string, title: string, body: Attempt['body'], answer: Attempt['answer']): Attempt =>
  ({ title, asks: { define: type }, body, answer });
const edit = (title: string, body: Attempt['body'], answer: Attempt['answer'], before: DefChanges = {}): Attempt =>
  ({ title, asks: { edit: 'edited' }, body, answer, before });

const soon = '2126-01-01T00:00:00Z';
const own = { priority: 7, policy: { timeoutMs: 1000, attemptsMax: 2 } };
const cron = [{ kind: 'cron', text: '0 0 1 1 *', zone: 'UTC' }];

export const attempts: readonly Attempt[] = [
  run('report', 'fits', { input: params }, own),
  run('report', 'has an optional field', { input: { year: 1, format: 'csv' } }, { ...own, input: '{"year":1,"format":"csv"}' }),
  run('report', 'has a text for a number', { input: { year: 'soon' } }, 'malformed.input'),
  run('report', 'lacks a field', { input: {} }, 'malformed.input'),
  run('report', 'has no input', {}, 'malformed.input'),
  run('report', 'has null', { input: null }, 'malformed.input'),
  run('report', 'has a word that is not one of the list', { input: { year: 1, format: 'doc' } }, 'malformed.input'),
  run('report', 'has a priority of its own', { input: params, priority: 40 }, { ...own, priority: 40 }),
  run('report', 'has a priority beyond bounds', { input: params, priority: 1e9 }, 'malformed'),
  run('report', 'has a priority that is not whole', { input: params, priority: 1.5 }, 'malformed'),
  run('report', 'is due later', { input: params, dueTime: soon }, { ...own, state: 'pending' }),
  run('report', 'is due later, as answers put it', { input: params, dueAt: soon }, { ...own, due: Date.parse(soon) }),
  run('report', 'is due later, as jobs put it', { input: params, due: soon }, { ...own, due: Date.parse(soon) }),
  run('report', 'is due at two times', { input: params, dueAt: soon, dueTime: soon }, 'malformed'),
  run('report', 'is due at a time and after a delay', { input: params, due: soon, delay: '2h' }, 'malformed'),
  run('report', 'is due at a time that cannot be read', { input: params, dueTime: 'soon' }, 'malformed'),
  run('report', 'has a delay', { input: params, delay: '2h' }, { ...own, state: 'pending' }),
  run('report', 'has a delay that cannot be read', { input: params, delay: 'later' }, 'malformed'),
  run('report', 'has an unknown option', { input: params, prioritty: 1 }, 'malformed'),
  run('report', 'has a unique key', { input: params, unique: 'key' }, own),
  run('report', 'has tags', { input: params, tags: { team: 'a' } }, own),
  run('alone', 'is busy', {}, 'busy.type'),
  run('alone', 'is due later, though busy', { dueTime: soon }, { gate: 'any/alone///1/' }),
  run('perTenant', 'has a key', { input: { tenant: 'acme' } }, { gate: 'any/perTenant//acme/5/' }),
  run('perTenant', 'lacks its key', { input: {} }, 'malformed.input'),
  run('named', 'uses its limits', { input: { tenant: 'acme', size: 2 } }, {
    gate: usesText([['mail', null], ['tenant', 'acme']], '#2,1'),
  }),
  run('named', 'has neither key nor cost', { input: {} }, { gate: usesText([['mail', null]]) }),
  run('named', 'costs nothing', { input: { size: 0 } }, 'limit.cost'),
  run('named', 'costs more than the burst', { input: { size: 10 } }, 'limit.cost'),
  define('named', 'uses its limits', { params: { tenant: 'b', size: 3 }, schedules: cron }, {
    limitUses: [{ name: 'mail', key: null, cost: 3 }, { name: 'tenant', key: 'b', cost: 1 }],
  }),
  define('named', 'costs more than the burst', { params: { size: 10 } }, 'limit.cost'),
  run('plain', 'takes anything', { input: [1, 'two'] }, { input: '[1,"two"]' }),
  run('nobody.knows', 'is accepted: its program may start later', { input: 1 }, { priority: 0 }),
  ...['a b', 'a*', 'a,b', '-a', 'ü'.repeat(200)].flatMap((type) => [
    run(type, 'is no name of a job type', {}, 'malformed'), define(type, 'is no name of a job type', {}, 'malformed'),
  ]),
  runDef('yearly', 'runs with its parameters', {}, { input: '{"year":2026}', priority: 3, policy: own.policy }),
  runDef('yearly', 'runs with another input', { input: { year: 5 } }, { input: '{"year":5}' }),
  runDef('yearly', 'is given a wrong input', { input: { year: 'soon' } }, 'malformed.input'),
  runDef('template', 'has no parameters', {}, 'malformed.input'),
  runDef('disabled', 'is disabled', {}, 'disabled.definition'),
  runDef('scheduledOnly', 'takes no manual runs', {}, 'manual.forbidden'),
  runDef('open', 'is busy', {}, 'busy.type'),
  runDef('nothing', 'does not exist', {}, 'unknown.definition'),
  define('report', 'inherits from its type', { params, schedules: cron }, own),
  define('report', 'sets its own', { params, timeout: '9s', retry: { attempts: 5 }, priority: 1 }, {
    priority: 1, policy: { timeoutMs: 9000, attemptsMax: 5 },
  }),
  define('report', 'has wrong parameters', { params: { year: 'soon' } }, 'malformed.input'),
  define('report', 'is scheduled without parameters', { schedules: cron }, 'malformed.input'),
  define('report', 'has an unknown option', { params, schedule: cron }, 'malformed'),
  define('report', 'has an unknown option in retry', { params, retry: { maxAttempts: 9 } }, 'malformed'),
  define('report', 'has a timeout that cannot be read', { params, timeout: 'long' }, 'malformed'),
  define('report', 'wants a lock that its type does not have', { params, onePerType: true }, 'malformed'),
  define('alone', 'cannot switch the lock of its type off', { onePerType: false }, { onePerType: true, gate: { typeMax: 1 } }),
  edit('is given wrong parameters', { params: { year: 'soon' } }, 'malformed.input'),
  edit('is given others', { params: { year: 1999 } }, { params: { year: 1999 } }),
  edit('changes a timeout and keeps the rest', { timeout: '5s' }, {
    policy: { timeoutMs: 5000, attemptsMax: 4, retentionMs: 86_400_000, leaderOnly: true },
  }),
  edit('changes the same in its stored form', { policy: { timeoutMs: 6000 } }, {
    policy: { timeoutMs: 6000, attemptsMax: 4, retentionMs: 86_400_000, leaderOnly: true },
  }),
  edit('takes it back', { timeout: null }, {
    policy: { timeoutMs: 1000, attemptsMax: 4, retentionMs: 86_400_000, leaderOnly: true },
  }, { timeout: '9s' }),
  edit('changes a timeout and keeps what was changed before', { timeout: '5s' }, {
    policy: { timeoutMs: 5000, attemptsMax: 8, retentionMs: 86_400_000, leaderOnly: true }, priority: 9,
  }, { retry: { attempts: 8 }, priority: 9 }),
  edit('is limited', { concurrency: 3 }, { gate: { defMax: 3 } }),
  edit('has an unknown option', { timeuot: '5s' }, 'malformed'),
];
