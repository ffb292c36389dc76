// Types of child runs: requests fit the inputs of the children, and results have the types of the children.
import { z } from 'zod';
import { jobType, type EndedChild, type JobType } from '../../src/index.ts';
import { exactly } from './same.ts';

const charge = jobType('charge', { input: z.object({ euros: z.number() }), run: () => ({ paid: true }) });
const plain = jobType('plain', { run: () => 'text' });

export const order = jobType('order', {
  input: z.object({ items: z.array(z.string()) }),
  run: ({ input, children }) => {
    children.add(charge, { input: { euros: input.items.length } });
    children.add(plain);
    children.add(plain, { priority: 3, delay: '1m' });
    // @ts-expect-error -- the input is missing
    children.add(charge);
    // @ts-expect-error -- the input does not fit
    children.add(charge, { input: { euros: '1' } });
    // @ts-expect-error -- children follow no runs
    children.add(plain, { after: [1] });
    return { at: 1 };
  },
  jobResults: ({ children, details }) => {
    exactly<number>()(details.at);
    exactly<readonly EndedChild<{ paid: boolean }>[]>()(children.of(charge));
    return children.of(plain).map(({ result }) => result);
  },
});
exactly<JobType<{ items: string[] }, (string | null)[]>>()(order);
