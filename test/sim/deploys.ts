// Deploys that come and go: a type whose payload has three versions, and the version that instances start with.
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { jobType, typed, type Context } from '../../src/index.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import type { Job } from '../../src/model/job.ts';
import type { Clock } from '../../src/time/clock.ts';
import { violation, type Violation } from '../../src/verify.ts';
import type { RandomStream } from './random-streams.ts';

export const deployedType = 'deployed';

const versions = [1, 2, 3] as const;
export type DeployedVersion = (typeof versions)[number];
export const newestVersion = 3;

/** Each version has a format of its own, so that code of another version cannot read it. */
interface Payload {
  readonly format: number;
}

export const drawVersion = (random: RandomStream): DeployedVersion => random.pick(versions);

/** Made by a producer of this version. */
export const deployedDraft = (version: DeployedVersion): Draft => ({
  type: deployedType, typeVersion: version, inputText: JSON.stringify({ format: version } satisfies Payload),
  policy: { attemptsMax: 3, crashesMax: 1_000 },
});

export interface DeployedParts {
  readonly clock: Clock;
  /** Records the start; returns a number in [0, 1) that depends only on the attempt. */
  readonly begin: (context: Context) => number;
  readonly version: DeployedVersion;
  readonly onWrongFormat: (found: Violation) => void;
  readonly onUpgrade: () => void;
}

/** The type as the code of one version has it: it upgrades what older code has made. */
export const deployedJobType = ({ clock, begin, version, onWrongFormat, onUpgrade }: DeployedParts): AnyJobType =>
  jobType(deployedType, {
    version,
    upgrade: Object.fromEntries(versions.filter((older) => older < version).map((older) =>
      [older, upgradeFrom(older, onUpgrade)])),
    input: typed<Payload>(),
    run: async (context) => {
      const chance = begin(context);
      const { input: { format }, run: { id } } = context;
      if (format !== version) {
        onWrongFormat(violation('S42', id, `job ${id} was started by code of version ${version} with format ${format}`));
      }
      await clock.sleep(chance * 30_000, context.signal);
      return format;
    },
  });

const upgradeFrom = (older: number, onUpgrade: () => void) => ({ format }: Payload): Payload => {
  onUpgrade();
  if (format !== older) throw new Error(`format ${format} is not that of version ${older}`);
  return { format: older + 1 };
};

/** What no handler has caused is no reason to fail: a version that knows the payload was deployed at last. */
export const checkDeployed = (jobs: Iterable<Job>): Violation[] =>
  [...jobs].flatMap((job) => {
    const isWrong = job.type === deployedType && job.state === 'ended' && job.fate === 'failed';
    return isWrong ? [violation('S42', job.id, `job ${job.id} failed (${job.error?.message}), and a version that knows it lived`)] : [];
  });
