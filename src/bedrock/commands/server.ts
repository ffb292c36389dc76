/** Ping, Status, CrashBedrockJob and ClearCrashedBedrockJobs: commands about the server itself. */
import { parseGlob } from '../../model/glob.ts';
import { version } from '../../version.ts';
import { ok, type BedrockCommand } from '../call.ts';
import { listOf, textOf } from '../parameters.ts';
import { StatusError } from '../status.ts';

export const ping: BedrockCommand = { run: () => ok };

export const status: BedrockCommand = {
  run: ({ services }) => {
    const jobs = {
      crashedBedrockJobList: [...services.crashing.keys()],
      crashedBedrockJobs: services.crashing.size,
      name: 'Jobs',
      waiting: services.longPolls.size,
    };
    const about = { isLeader: true, plugins: [jobs], state: 'LEADING', version: `stint ${version}` };
    return { status: '200 OK', body: JSON.stringify(about) };
  },
};

/**
 * Makes jobs with matching names fail instead of being handed out, until ClearCrashedBedrockJobs is called or the
 * server stops.
 */
export const crashBedrockJob: BedrockCommand = {
  isLocal: true,
  statuses: { 'malformed.pattern': '402 Malformed names' },
  run: ({ headers, services }) => {
    const names = listOf(textOf(headers, 'names') ?? '');
    if (names.length === 0) throw new StatusError('402 Missing names');
    for (const glob of names.map(parseGlob)) services.crashing.set(glob.text, glob);
    return ok;
  },
};

export const clearCrashedBedrockJobs: BedrockCommand = {
  isLocal: true,
  run: ({ services }) => {
    services.crashing.clear();
    return ok;
  },
};
