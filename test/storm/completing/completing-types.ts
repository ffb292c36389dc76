// Job types that end by `complete` and write two effects. Their process kills itself at the moment that the input names.
import { setTimeout as sleep } from 'node:timers/promises';
import { jobType, typed, type Context } from '../../../src/index.ts';
import { isFirst, of, tell } from '../../engine/processes/children/ledger.ts';
import { killDelayMs, type KillMoment } from './kill-moment.ts';

interface ShipInput {
  readonly kill: KillMoment | null;
}

type ShipContext = Context & { readonly input: ShipInput };

/** High limits: kills and lost connections must not end a run. */
const retry = { attempts: 1_000, base: '20ms', max: '200ms', crashes: 1_000 } as const;
const insert = 'insert into effects values ($1, $2)';
/** Long enough for kills from outside, and for the end of a lease during a pause, to fall between the writes. */
const betweenWritesMs = 15;

export const ship = jobType('ship', { input: typed<ShipInput>(), retry, run: complete });

export const shipTasks = jobType('ship.tasks', {
  input: typed<ShipInput>(), retry, taskDetails: () => [1, 2], taskResults: ({ task }) => task, jobResults: complete,
});

async function complete(context: ShipContext): Promise<number> {
  const { run, fence, input } = context;
  const isDue = (moment: KillMoment): boolean => input.kill === moment && isFirst(`kill-${run.id}`);
  const killIf = (moment: KillMoment): void => {
    if (isDue(moment)) kill(context, moment);
  };
  killIf('before the writes');
  const result = await context.complete(async (tx) => {
    await tx.query(insert, [run.id, fence]);
    tell('wrote', of(context));
    await sleep(betweenWritesMs);
    killIf('between the writes');
    await tx.query(insert, [run.id, fence]);
    killIf('after the writes');
    if (isDue('around the commit')) setTimeout(() => kill(context, 'around the commit'), killDelayMs(run.id, fence));
    return fence;
  });
  killIf('after the commit');
  return result;
}

function kill(context: ShipContext, moment: KillMoment): void {
  tell('killed', { ...of(context), moment });
  process.kill(process.pid, 'SIGKILL');
}
