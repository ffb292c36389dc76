// A run of very many tasks. In the middle of its planning it waits for the test, and one of its tasks does too.
import { jobType, typed } from '../../../../src/index.ts';
import { gate, tell } from './ledger.ts';

export const large = jobType('large', {
  input: typed<{ tasks: number }>(),
  taskDetails: async function* ({ input, signal }) {
    for (let task = 0; task < input.tasks; task++) {
      if (task === input.tasks / 2) {
        tell('half planned');
        await gate('go', signal);
      }
      yield { task, text: 'some text for each' };
    }
  },
  taskResults: async ({ input, task: { task }, signal }) => {
    if (task === input.tasks / 2) await gate('watched', signal);
    return { square: task ** 2 };
  },
  jobResults: async ({ tasks, counts }) => {
    let [seen, sum] = [0, 0];
    for await (const { result } of tasks) {
      seen += 1;
      sum += Math.sqrt(result!.square);
    }
    return { seen, sum, counts };
  },
});

export const types = [large];
