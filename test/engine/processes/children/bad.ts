// Handlers that do what handlers should not, each by its name, and one that works beside them.
import { jobType, typed } from '../../../../src/index.ts';
import { gate, of, tell } from './ledger.ts';

const module = import.meta.url;
const once = { attempts: 1, crashes: 2, base: '10ms' } as const;

const bomb = (): never => {
  throw new Error('do not look at me');
};

const hostile = (): object => ({
  get message() { return bomb(); },
  get data() { return bomb(); },
  get stack() { return bomb(); },
  toString: bomb,
});

class Trap extends Error {
  override get message(): string {
    return bomb();
  }

  get data(): never {
    return bomb();
  }
}

const proxy = (): object =>
  new Proxy({}, { get: bomb, has: bomb, getPrototypeOf: bomb, ownKeys: bomb, getOwnPropertyDescriptor: bomb });

function cyclic(): object {
  const value: Record<string, unknown> = { name: 'ring' };
  value['self'] = value;
  return value;
}

/** What they throw. */
export const throwing: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'a number': () => 42,
  'a symbol': () => Symbol('sign'),
  'an object whose getters throw': hostile,
  'an error whose getters throw': () => new Trap(),
  'a proxy that throws at every touch': proxy,
  'ten million characters': () => new Error('x'.repeat(10_000_000)),
  'half a surrogate pair and a NUL': () => new Error('\ud800 \0 end'),
  'an error that is its own cause': () => {
    const error = new Error('ring');
    error.cause = error;
    return error;
  },
};

/** What they return. */
export const returning: Readonly<Record<string, () => unknown>> = {
  'a ring': cyclic,
  'two million characters': () => 'x'.repeat(2_000_000),
  'a BigInt': () => 1n,
  '__proto__ as a key': () => JSON.parse('{"__proto__": {"polluted": true}}') as unknown,
  'not a number': () => ({ size: NaN }),
  'a Map': () => new Map([[1, 2]]),
  'a function': () => () => 1,
  'a toJSON that throws': () => ({ toJSON: bomb }),
  // oxlint-disable-next-line unicorn/no-thenable -- that is what makes it bad
  'a thenable that throws': () => ({ then: bomb }),
  'a getter that throws': () => ({ get a() { return bomb(); } }),
};

export const bad = jobType('bad', {
  input: typed<{ throws?: string; returns?: string }>(),
  retry: once,
  run: async ({ input }) => {
    if (input.returns !== undefined) return returning[input.returns]!();
    await Promise.resolve();
    throw throwing[input.throws!]!();
  },
});

/** Returns immediately; its promise is rejected later, when no code handles it. */
export const late = jobType('late', {
  retry: once,
  run: () => {
    void Promise.reject(new Error('at once'));
    setTimeout(() => void Promise.reject(new Error('later')), 50);
    setTimeout(() => tell('late is over'), 100);
    return 'gone';
  },
});

/** The same, for the jobs of a batch. */
export const lateBatch = jobType('late-batch', {
  batch: { size: 2 },
  runBatch: ({ jobs }) => {
    void Promise.reject(new Error('at once'));
    return jobs.map((job) => job.done('gone'));
  },
});

/** Its own try is over when it fails. */
export const afterTimeout = jobType('after-timeout', {
  timeout: '200ms',
  retry: once,
  run: async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, 600);
    });
    tell('failed after its timeout');
    throw new Error('nobody hears this');
  },
});

export const flooding = jobType('flooding', {
  retry: once,
  run: async ({ log, progress }) => {
    await progress.runStage(Array.from({ length: 50_000 }, (_, index) => index), (index) => `item ${index}`, () => {});
    for (let line = 0; line < 50_000; line++) log.info(`line ${line} ${'x'.repeat(100)}`);
    return 'dry';
  },
});

const exit = (): never => {
  tell('exits');
  return process.exit(3);
};

export const exitsThread = jobType('exits-thread', { module, isolate: 'thread', retry: once, run: exit });
export const exitsProcess = jobType('exits-process', { module, isolate: 'process', retry: once, run: exit });
export const exits = jobType('exits', { retry: once, run: exit });

export const witness = jobType('witness', {
  run: async ({ signal, ...context }) => {
    tell('start', of(context));
    await gate('go', signal);
    tell('done', of(context));
    return 'saw nothing';
  },
});

export const types = [bad, late, lateBatch, afterTimeout, flooding, exitsThread, exitsProcess, exits, witness];
