// Job types that end by `complete` and write two effects. Their process kills itself at the moment that is due.
import { setTimeout as sleep } from 'node:timers/promises';
import { jobType, type Context } from '../../../src/index.ts';
import { of, tell } from '../../engine/processes/children/ledger.ts';
import { killDelayMs, killMomentOf, type KillMoment } from './kill-moment.ts';

/** High limits: kills and lost connections must not end a run. */
const retry = { attempts: 1_000, base: '20ms', max: '200ms', crashes: 1_000 } as const;
const insert = 'insert into effects values ($1, $2)';
/** Long enough for kills from outside, and for the end of a lease during a pause, to fall between the writes. */
const betweenWritesMs = 15;

export const ship = jobType('ship', { retry, run: complete });

export const shipTasks = jobType('ship.tasks', {
  retry, taskDetails: () => [1, 2], taskResults: ({ task }) => task, jobResults: complete,
});

async function complete(context: Context): Promise<number> {
  const { run, fence } = context;
  const moment = killMomentOf(run.id, fence);
  const killIf = (due: KillMoment): void => {
    if (moment === due) kill(context, due);
  };
  killIf('before the writes');
  return context.complete(async (tx) => {
    await tx.query(insert, [run.id, fence]);
    tell('wrote', of(context));
    await sleep(betweenWritesMs);
    killIf('between the writes');
    await tx.query(insert, [run.id, fence]);
    killIf('after the writes');
    if (moment === 'around the commit') setTimeout(() => kill(context, moment), killDelayMs(run.id, fence));
    return fence;
  });
}

function kill(context: Context, moment: KillMoment): void {
  tell('killed', { ...of(context), moment });
  process.kill(process.pid, 'SIGKILL');
}
