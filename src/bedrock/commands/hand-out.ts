/** GetJob and GetJobs. */
import type { HandedOut, HandOut } from '../../jobs/bedrock/hand-out.ts';
import type { Call, Command, Reply } from '../call.ts';
import { atoi, isMocked, namesOf, priorityOf } from '../parameters.ts';
import { StatusError } from '../status.ts';
import { timeoutOf } from '../timeout.ts';
import { handedOutText } from '../view.ts';
import type { Wish } from '../long-polls.ts';

const noJob = '404 No job found';

export const getJob: Command = {
  run: async (call) => {
    const names = namesOf(call.headers);
    if (call.headers.has('numresults')) throw new StatusError('402 Cannot use numResults with GetJob; try GetJobs');
    const handed = await handOut(call, wishOf(call, names, 1));
    return replyWith(call, handed, handed[0] === undefined ? '{}' : handedOutText(handed[0]));
  },
};

export const getJobs: Command = {
  run: async (call) => {
    const names = namesOf(call.headers);
    const said = call.headers.get('numresults');
    if (said === undefined) throw new StatusError('402 Missing numResults');
    const handed = await handOut(call, wishOf(call, names, Math.max(atoi(said), 1)));
    return replyWith(call, handed, `{"jobs":[${handed.map(handedOutText).join(',')}]}`);
  },
};

function wishOf({ headers }: Call, names: Wish['names'], limit: number): Wish {
  const priority = priorityOf(headers.get('jobpriority'));
  const withMocks = isMocked(headers) || headers.has('getmockedjobs');
  return { names, limit, withMocks, ...(priority === undefined ? {} : { priorities: [priority] }) };
}

/** Without waiting, a job that failed instead of being handed out is told as an empty answer. */
async function handOut({ desk, caller, headers }: Call, wish: Wish): Promise<readonly HandedOut[]> {
  if (caller.isGone) throw new StatusError(noJob);
  const isPatient = headers.get('connection')?.toLowerCase() === 'wait';
  const found: HandOut = isPatient
    ? { handed: await desk.waiting.wait(wish, caller, timeoutOf(headers)), spoiled: 0 }
    : await desk.waiting.serve(wish, caller);
  if (found.handed.length + found.spoiled === 0) throw new StatusError(noJob);
  return found.handed;
}

const replyWith = ({ desk, caller }: Call, handed: readonly HandedOut[], body: string): Reply => ({
  status: '200 OK',
  body,
  onLost: () => desk.queue.release(handed.map(({ job }) => job), { by: caller.name }),
});
