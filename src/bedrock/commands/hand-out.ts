/** GetJob and GetJobs. */
import type { HandedOut, HandOut } from '../../jobs/bedrock/hand-out.ts';
import type { BedrockCall, BedrockCommand, Reply } from '../call.ts';
import { atoi, isMocked, namesOf, priorityOf } from '../parameters.ts';
import { StatusError } from '../status.ts';
import { timeoutOf } from '../timeout.ts';
import { handedOutText } from '../view.ts';
import type { PollRequest } from '../long-polls.ts';

const noJob = '404 No job found';

export const getJob: BedrockCommand = {
  run: async (call) => {
    const names = namesOf(call.headers);
    if (call.headers.has('numresults')) throw new StatusError('402 Cannot use numResults with GetJob; try GetJobs');
    const handed = await handOut(call, requestOf(call, names, 1));
    return replyWith(call, handed, handed[0] === undefined ? '{}' : handedOutText(handed[0]));
  },
};

export const getJobs: BedrockCommand = {
  run: async (call) => {
    const names = namesOf(call.headers);
    const text = call.headers.get('numresults');
    if (text === undefined) throw new StatusError('402 Missing numResults');
    const handed = await handOut(call, requestOf(call, names, Math.max(atoi(text), 1)));
    return replyWith(call, handed, `{"jobs":[${handed.map(handedOutText).join(',')}]}`);
  },
};

function requestOf({ headers }: BedrockCall, names: PollRequest['names'], limit: number): PollRequest {
  const priority = priorityOf(headers.get('jobpriority'));
  const withMocks = isMocked(headers) || headers.has('getmockedjobs');
  return { names, limit, withMocks, ...(priority === undefined ? {} : { priorities: [priority] }) };
}

/**
 * Hands out jobs. Throws `404 No job found` if no job matches or, with `Connection: wait`, if the wait ends without a
 * job. Without `Connection: wait`, returns an empty list if all jobs that matched failed instead of being handed out.
 */
async function handOut(
  { services, caller, headers }: BedrockCall,
  request: PollRequest,
): Promise<readonly HandedOut[]> {
  if (caller.isGone) throw new StatusError(noJob);
  const isLongPoll = headers.get('connection')?.toLowerCase() === 'wait';
  const found: Pick<HandOut, 'handed' | 'failed'> = isLongPoll
    ? { handed: await services.longPolls.wait(request, caller, timeoutOf(headers)), failed: 0 }
    : await services.longPolls.serve(request, caller);
  if (found.handed.length + found.failed === 0) throw new StatusError(noJob);
  return found.handed;
}

const replyWith = ({ services, caller }: BedrockCall, handed: readonly HandedOut[], body: string): Reply => ({
  status: '200 OK',
  body,
  onLost: () => services.queue.release(handed.map(({ job }) => job), { by: caller.name }),
});
