/**
 * Asks the server over a new connection what a silent backend is doing, and terminates the backend if it executes no
 * statement. A statement that takes too long is cancelled or terminated on request.
 */
import type pg from 'pg';
import { ignore } from './errors.ts';

export interface SilentBackend {
  readonly pid: number;
  /** How long ago the backend last answered. A backend that has started since then is another one with the same pid. */
  readonly ageMs: number;
}

/**
 * `busy`: the backend executes a statement, or did not end within a second after it was terminated.
 * `idle`: the backend no longer exists: it had ended already, or the probe terminated it.
 * `hidden`: a pooler is in between, so the pid is not that of a backend. `unreachable`: the server did not answer.
 */
export type BackendState = 'busy' | 'idle' | 'hidden' | 'unreachable';

/**
 * What to do with a backend that executes a statement. `cancel`: the backend reports the cancel, or the result of a
 * statement that ended before, over the silent connection. `terminate`: the backend ends without a report.
 */
export type IfBusy = 'leave' | 'cancel' | 'terminate';

export type AskAboutBackend = (backend: SilentBackend, ifBusy?: IfBusy) => Promise<BackendState>;

const answerMaxMs = 3_000;

/**
 * Finds the silent backend. A backend that waits for its client has the state `active`, too, for example while it sends
 * an answer to a client that is gone. It does not count as busy.
 */
const silent = `select pid, state = 'active' and wait_event_type is distinct from 'Client' as busy
  from pg_stat_activity where pid = $1 and backend_start < clock_timestamp() - $2 * interval '1 ms'`;

const probeSql = `select pg_backend_pid() as own, (select busy from (${silent}) silent) as busy`;

/**
 * Terminates the backend, and waits up to a second until it is gone, so that its last transaction has been committed or
 * rolled back. Does nothing if the backend has begun to execute a statement since it was probed.
 */
const terminateSql = `select pg_terminate_backend(pid, 1000) from (${silent}) silent where not busy`;
const terminateBusySql = `select pg_terminate_backend(pid, 1000) from (${silent}) silent`;
const cancelSql = `select pg_cancel_backend(pid) from (${silent}) silent where busy`;

/** `busy` is null if the silent backend no longer exists. */
interface BackendProbe {
  readonly own: number;
  readonly busy: boolean | null;
}

export const backendProbe = (newClient: (limits: pg.ClientConfig) => pg.Client): AskAboutBackend =>
  async ({ pid, ageMs }, ifBusy = 'leave') => {
    const client = newClient({ connectionTimeoutMillis: answerMaxMs, query_timeout: answerMaxMs });
    try {
      await client.connect();
      const values = [pid, ageMs];
      const probe = async (): Promise<BackendProbe> => (await client.query<BackendProbe>(probeSql, values)).rows[0]!;
      const { own, busy } = await probe();
      if (own !== processOf(client)) return 'hidden';
      if (busy === null) return 'idle';
      const act = actionOn(busy, ifBusy);
      if (act !== null) await client.query(act, values);
      return act !== null && (await probe()).busy === null ? 'idle' : 'busy';
    } catch {
      return 'unreachable';
    } finally {
      client.end().catch(ignore);
    }
  };

function actionOn(busy: boolean, ifBusy: IfBusy): string | null {
  if (!busy) return terminateSql;
  return { leave: null, cancel: cancelSql, terminate: terminateBusySql }[ifBusy];
}

/** The pid that the server, or a pooler, sent when the connection began; the driver's types do not declare it. */
const processOf = (client: pg.ClientBase): number => (client as unknown as { readonly processID: number }).processID;
