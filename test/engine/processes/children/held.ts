// Handlers that try the lease: one blocks its process, one hangs, one goes on after it was overtaken.
import { setTimeout as sleep } from 'node:timers/promises';
import { jobType, typed } from '../../../../src/index.ts';
import { gate, hang, of, tell } from './ledger.ts';

export const blocking = jobType('blocking', {
  input: typed<{ ms: number }>(),
  run: ({ input, ...context }) => {
    tell('start', of(context));
    blockFor(input.ms);
    tell('done', of(context));
    return 'blocked';
  },
});

/** Blocks its process endlessly: immediately, or after it has yielded once. */
export const stuck = jobType('stuck', {
  input: typed<{ isAsync: boolean }>(),
  timeout: '5s',
  retry: { attempts: 1 },
  run: ({ input, ...context }) => {
    tell('start', of(context));
    return input.isAsync ? sleep(10).then(block) : block();
  },
});

/** Endless, unless the test was killed: then nobody would end the process. */
function block(): never {
  for (const parent = process.ppid; ; blockFor(500)) if (process.ppid !== parent) process.exit();
}

/** Blocks the event loop as a computation does, but leaves the processor to the other tests. */
const blockFor = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

export const beside = jobType('beside', {
  run: async ({ signal, ...context }) => {
    tell('start', of(context));
    await gate('go', signal);
    return 'stood beside';
  },
});

export const hanging = jobType('hanging', {
  timeout: '300ms',
  retry: { attempts: 2, base: '10ms' },
  run: async ({ signal, ...context }) => {
    tell('start', of(context));
    await hang(signal).catch((reason: Error) => tell('aborted', { ...of(context), reason: reason.name }));
    return new Promise(() => {});
  },
});

export const looping = jobType('looping', {
  timeout: '1s',
  retry: { attempts: 1 },
  isolate: 'thread',
  module: import.meta.url,
  run: (context) => {
    tell('start', of(context));
    for (;;);
  },
});

/** Under its first claim it waits until it is overtaken, and then tries to write; later ones do their work. */
export const overtaken = jobType('overtaken', {
  run: async ({ signal, log, progress, ...context }) => {
    tell('start', of(context));
    log.info(`line of ${process.env['STINT_INSTANCE']}`);
    if (context.fence > 1) {
      await gate('go', signal);
      return 'in time';
    }
    await hang(signal).catch((reason: Error) => tell('aborted', { ...of(context), reason: reason.name }));
    log.info('line that comes too late');
    progress.failedProcess(new Error('an end that comes too late'));
    tell('tried', of(context));
    return 'too late';
  },
});

export const quick = jobType('quick', {
  run: (context) => tell('start', of(context)),
});

export const types = [blocking, stuck, beside, hanging, looping, overtaken, quick];
