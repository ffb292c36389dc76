/** Ping, Status, CrashBedrockJob and ClearCrashedBedrockJobs: what concerns the server itself. */
import { parseGlob } from '../../model/glob.ts';
import { version } from '../../version.ts';
import { ok, type Command } from '../call.ts';
import { listOf, textOf } from '../parameters.ts';
import { StatusError } from '../status.ts';

export const ping: Command = { run: () => ok };

export const status: Command = {
  run: ({ desk }) => {
    const jobs = {
      crashedBedrockJobList: [...desk.crashing.keys()],
      crashedBedrockJobs: desk.crashing.size,
      name: 'Jobs',
      waiting: desk.waiting.size,
    };
    const about = { isLeader: true, plugins: [jobs], state: 'LEADING', version: `stint ${version}` };
    return { status: '200 OK', body: JSON.stringify(about) };
  },
};

/** From now on jobs whose names match fail instead of being handed out, until that is cleared or the server stops. */
export const crashBedrockJob: Command = {
  isLocal: true,
  statuses: { 'malformed.pattern': '402 Malformed names' },
  run: ({ headers, desk }) => {
    const names = listOf(textOf(headers, 'names') ?? '');
    if (names.length === 0) throw new StatusError('402 Missing names');
    for (const glob of names.map(parseGlob)) desk.crashing.set(glob.text, glob);
    return ok;
  },
};

export const clearCrashedBedrockJobs: Command = {
  isLocal: true,
  run: ({ desk }) => {
    desk.crashing.clear();
    return ok;
  },
};
