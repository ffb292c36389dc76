// A handler that writes numbered chunks: in its first attempt until it is killed, in the next a hundred.
import { setTimeout as sleep } from 'node:timers/promises';
import { jobType } from '../../../../src/index.ts';

export const chunksOfSecond = 100;

export const streaming = jobType('streaming', {
  retry: { base: '10ms' },
  run: async ({ output, fence, signal }) => {
    for (let n = 0; fence === 1 || n < chunksOfSecond; n += 1) {
      signal.throwIfAborted();
      await output.write({ n, text: `chunk ${n} of attempt ${fence}` });
      if (n % 5 === 0) await sleep(5);
    }
    return 'written';
  },
});

export const types = [streaming];
