// The type whose runs have steps, sleeps and questions, and the monitor of what is stored of them (S43).
import { z } from 'zod';
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { AnswerTimedOut, jobType, type Context } from '../../src/index.ts';
import type { Change } from '../../src/model/change.ts';
import type { Event } from '../../src/model/event.ts';
import type { Job } from '../../src/model/job.ts';
import type { NewStep } from '../../src/model/step.ts';
import type { Clock } from '../../src/time/clock.ts';
import { violation, type Violation } from '../../src/verify.ts';

/** The type whose runs ask, in the simulations that draw it. */
export const askingType = 'asking';

const retry = { attempts: 3, base: '1s', max: '20s' } as const;
/** The answers that its questions accept are 5 and higher. */
const schema = z.number().min(5);

export function askingJobType(clock: Clock, begin: (context: Context) => number): AnyJobType {
  return jobType(askingType, {
    retry,
    run: async (context) => {
      const chance = begin(context);
      const { step, sleep, waitFor } = context;
      await step('plan', async () => {
        // Without the signal: some steps do not notice that they should stop.
        await clock.sleep(chance * 40_000);
        return chance;
      });
      await sleep('dry', '20s');
      const ask = (name: string, timeout: '1m' | '4m') => waitFor(name, { schema, timeout, role: 'operator', notBy: 'eve' });
      const [first, second] = await Promise.all([
        ask('a', '4m').catch((error: unknown) => (error instanceof AnswerTimedOut ? null : Promise.reject(error as Error))),
        ask('b', '1m'),
      ]);
      if (chance < 0.2) throw new Error('it did not work this time');
      return step('end', () => [first, second]);
    },
  });
}

/** What is stored of steps and waits, checked at each write. */
export class StepLedger {
  readonly #ended = new Map<string, Event['kind']>();

  /** `before` and `after`: the job before and after the write. */
  stored({ job: id, name, fence }: Pick<NewStep, 'job' | 'name' | 'fence'>, before: Job | undefined, after: Job | undefined): readonly Violation[] {
    const isHeld = [before, after].some((job) => job?.state === 'running' && job.fence === fence);
    if (isHeld) return [];
    return [violation('S43', id, `step ${name} of job ${id} was stored under fence ${fence}, which nobody holds`)];
  }

  changed({ before, after, events }: Change): readonly Violation[] {
    const id = (before ?? after)!.id;
    return events.flatMap((event) => this.#happened(id, event));
  }

  #happened(id: number, event: Event): readonly Violation[] {
    if (event.kind === 'reopened') {
      for (const key of this.#ended.keys()) if (key.startsWith(`${id}/`)) this.#ended.delete(key);
    }
    if (event.kind !== 'answered' && event.kind !== 'unanswered') return [];
    const key = `${id}/${event.name}`;
    const earlier = this.#ended.get(key);
    if (event.kind === 'unanswered' && event.cause !== 'timeout') {
      this.#ended.delete(key);
      return [];
    }
    this.#ended.set(key, event.kind);
    if (earlier === undefined) return [];
    return [violation('S43', id, `the wait ${event.name} of job ${id} was ${event.kind} after it was ${earlier}`)];
  }
}
