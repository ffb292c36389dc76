/** FinishJob, RetryJob and FailJob: the commands with which a worker ends its work on a job that was handed out. */
import type { FinishRequest, RetryRequest } from '../../jobs/bedrock/finish.ts';
import type { Refusal } from '../../refusal.ts';
import { ok, type BedrockCall, type BedrockCommand } from '../call.ts';
import { atoi, isOn, jobIdOf, priorityOf, textOf, timeOf, type Headers } from '../parameters.ts';
import type { Statuses } from '../status.ts';

const notHeld = '405 Can only retry/finish RUNNING and RUNQUEUED jobs';

const statuses: Statuses = {
  'wrong.state': notHeld,
  'lost.lease': notHeld,
  'wrong.parent': '405 Can only retry/finish child job when parent is PAUSED',
  'mismatched.mock': '500 Mock Mismatch',
};

export const finishJob: BedrockCommand = {
  statuses,
  run: async (call) => {
    await call.services.queue.finish(finishRequest(call), { by: call.caller.name });
    return ok;
  },
};

export const retryJob: BedrockCommand = {
  statuses: {
    ...statuses,
    'malformed.number': ({ detail }) =>
      detail['name'] === 'delay' ? delayStatus(detail) : '402 Invalid priority value',
  },
  run: async (call) => {
    const { headers, services, caller } = call;
    const finish = finishRequest(call);
    const name = textOf(headers, 'name');
    const priority = priorityOf(headers.get('jobpriority'));
    const request: RetryRequest = {
      ...finish,
      due: dueOf(headers),
      ...(name === undefined ? {} : { name }),
      ...(priority === undefined ? {} : { priority }),
    };
    await services.queue.retry(request, { by: caller.name });
    return ok;
  },
};

const notFailing = '405 Can only fail RUNNING or RUNQUEUED jobs';

export const failJob: BedrockCommand = {
  statuses: { 'wrong.state': notFailing, 'lost.lease': notFailing },
  run: async ({ headers, services, caller }) => {
    await services.queue.fail(jobIdOf(headers), textOf(headers, 'data'), { by: caller.name });
    return ok;
  },
};

function finishRequest({ headers, services }: BedrockCall): FinishRequest {
  const data = textOf(headers, 'data');
  return {
    id: jobIdOf(headers),
    ignoreRepeat: isOn(headers, 'ignorerepeat'),
    reanchor: services.reanchor,
    ...(data === undefined ? {} : { data }),
  };
}

/**
 * Returns when the job is due again: the time in `nextRun`, or else the delay in `delay`. An invalid time or delay is
 * returned, too: the queue refuses it if the job does not repeat, and ignores it if the job repeats.
 */
const dueOf = (headers: Headers): RetryRequest['due'] =>
  timeOf(headers.get('nextrun')) ?? { inSeconds: atoi(headers.get('delay') ?? '') };

const delayStatus = (detail: Refusal['detail']): string =>
  Number(detail['value']) < 0 ? '402 Must specify a non-negative delay when retrying' : '402 Malformed delay';
