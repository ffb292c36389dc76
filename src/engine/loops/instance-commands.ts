/**
 * Executes the instance commands of this instance. The claimer claims them together with other jobs. While the instance
 * is full or drained, `turn` polls for commands separately.
 */
import type { Jobs } from '../../jobs.ts';
import type { Command } from '../../model/command.ts';
import type { RunningJob } from '../../model/job.ts';
import type { Logger } from '../../logger.ts';
import { storedError } from '../attempt/stored-error.ts';
import { instanceCommandType, type InstanceCommand } from '../declare/instance-command.ts';

export interface InstanceCommandsParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly logger: Logger;
  readonly apply: (command: InstanceCommand) => Promise<void>;
}

const commandPollMs = 2_000;
const leaseMs = 30_000;
const commandBatch = 10;

export class InstanceCommands {
  readonly #parts: InstanceCommandsParts;

  constructor(parts: InstanceCommandsParts) {
    this.#parts = parts;
  }

  get type(): string {
    return instanceCommandType(this.#parts.instance);
  }

  /** Claims and executes commands. If `isClaiming`, does nothing: the claimer claims the commands with other jobs. */
  async turn(isClaiming: boolean): Promise<number> {
    const { jobs, instance } = this.#parts;
    if (isClaiming) return commandPollMs;
    const names = { exact: [this.type] };
    const claimed = await jobs.claim({ kinds: ['run'], names, limit: commandBatch, holder: instance, leaseMs });
    for (const job of claimed.toSorted((a, b) => a.id - b.id)) {
      await jobs.conclude([{ job, command: await this.execute(job) }], { by: instance });
    }
    return commandPollMs;
  }

  /** Executes a command; returns the outcome of its run, to be stored. Never rejects: after an error, the run fails. */
  async execute({ id, fence, input }: RunningJob): Promise<Command> {
    const { logger, apply } = this.#parts;
    const { order } = JSON.parse(input) as { order: InstanceCommand };
    try {
      await apply(order);
      return { do: 'succeed', fence };
    } catch (error) {
      logger.error(`cannot ${order} this instance`, { error, id });
      return { do: 'fail', fence, retryable: false, error: storedError(error) };
    }
  }
}
