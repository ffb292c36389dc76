/** UpdateJob, CancelJob, DeleteJob and RequeueJobs. */
import type { Refusal } from '../../refusal.ts';
import { ok, type BedrockCommand } from '../call.ts';
import { atoi, isOn, jobIdOf, jobIdsOf, priorityOf, textOf, timeOf } from '../parameters.ts';
import { StatusError } from '../status.ts';

const dataBytesMax = 1_048_576;

export const updateJob: BedrockCommand = {
  // A repeat with base STARTED is computed from the last start of the job. If the job has never started, the queue
  // refuses to set such a repeat: `wrong.state`.
  statuses: { 'wrong.state': '400 Unique Constraints Violation' },
  run: async ({ headers, services, caller }) => {
    const id = jobIdOf(headers);
    const data = textOf(headers, 'data');
    if (data === undefined) throw new StatusError('402 Missing data');
    if (Buffer.byteLength(data) > dataBytesMax) throw new StatusError('402 Malformed data');
    const repeat = textOf(headers, 'repeat')?.toUpperCase();
    const priority = priorityOf(headers.get('jobpriority'));
    const due = timeOf(headers.get('nextrun'));
    const request = {
      id,
      data,
      clearsRepeat: atoi(headers.get('shouldclearrepeat') ?? '') !== 0,
      reanchor: services.reanchor,
      ...(repeat === undefined ? {} : { repeat }),
      ...(due === undefined ? {} : { due }),
      ...(priority === undefined ? {} : { priority }),
    };
    await services.queue.update(request, { by: caller.name });
    return ok;
  },
};

export const cancelJob: BedrockCommand = {
  statuses: {
    'has.children': '404 Invalid jobID - Cannot cancel a job with children',
    'no.parent': '404 Invalid jobID - Cannot cancel a job without a parent',
  },
  run: async ({ headers, services, caller }) => {
    await services.queue.cancel(jobIdOf(headers), { by: caller.name });
    return ok;
  },
};

const isRunning = `405 Can't delete a RUNNING job`;
const hasChildrenRunning = `405 Can't delete a parent jobs with children running`;

export const deleteJob: BedrockCommand = {
  statuses: {
    'wrong.state': ({ detail }: Refusal) => (detail['state'] === 'running' ? isRunning : hasChildrenRunning),
  },
  run: async ({ headers, services, caller }) => {
    await services.queue.delete(jobIdOf(headers), { by: caller.name });
    return ok;
  },
};

export const requeueJobs: BedrockCommand = {
  run: async ({ headers, services, caller }) => {
    const name = textOf(headers, 'name');
    const request = {
      ids: jobIdsOf(headers.get('jobids') ?? ''),
      decrementsFailures: isOn(headers, 'decrementfailures'),
      ...(name === undefined ? {} : { name }),
    };
    await services.queue.requeue(request, { by: caller.name });
    return ok;
  },
};
