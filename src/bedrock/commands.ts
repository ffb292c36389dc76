/** The commands by name, and the function that answers a request. */
import type { Logger } from '../logger.ts';
import type { BedrockCall, BedrockCommand, Reply } from './call.ts';
import { cancelJob, deleteJob, requeueJobs, updateJob } from './commands/change.ts';
import { createJob, createJobs } from './commands/create.ts';
import { failJob, finishJob, retryJob } from './commands/finish.ts';
import { getJob, getJobs } from './commands/hand-out.ts';
import { query, queryJob } from './commands/query.ts';
import { clearCrashedBedrockJobs, crashBedrockJob, ping, status } from './commands/server.ts';
import { statusOf } from './status.ts';
import { timeoutOf } from './timeout.ts';

/** The names are spelled as in Bedrock's documentation. */
export const commands: Readonly<Record<string, BedrockCommand>> = {
  CreateJob: createJob,
  CreateJobs: createJobs,
  GetJob: getJob,
  GetJobs: getJobs,
  QueryJob: queryJob,
  UpdateJob: updateJob,
  FinishJob: finishJob,
  RetryJob: retryJob,
  FailJob: failJob,
  CancelJob: cancelJob,
  DeleteJob: deleteJob,
  RequeueJobs: requeueJobs,
  CrashBedrockJob: crashBedrockJob,
  ClearCrashedBedrockJobs: clearCrashedBedrockJobs,
  Status: status,
  Ping: ping,
  Query: query,
};

const byVerb = new Map(Object.entries(commands).map(([name, command]) => [name.toLowerCase(), command]));

/** The beginning of the short form `Query: SELECT …;`, which has its SQL in the method line instead of a header. */
const shorthand = /^query:/;

/** Executes the command of a request and returns its reply. Never throws: an error becomes a status. */
export async function answer(call: BedrockCall, logger: Logger): Promise<Reply> {
  const command = shorthand.test(call.verb) ? query : byVerb.get(call.verb);
  if (!command) return { status: '430 Unrecognized command' };
  if (command.isLocal && !call.caller.isLocal) return { status: '401 Unauthorized' };
  if (timeoutOf(call.headers) <= 0) return { status: '555 Timeout' };
  try {
    return await command.run(call);
  } catch (error) {
    const status = statusOf(error, command.statuses ?? {});
    if (status === null) logger.error('Bedrock command failed', { error, command: call.verb });
    return { status: status ?? '500 Unhandled Exception' };
  }
}
