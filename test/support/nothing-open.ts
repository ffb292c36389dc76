// The feed of PostgreSQL has no events of a transaction while an older one is open, even one of another test.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Waits until all transactions of the server that are open now have ended: the feed has whatever was committed before. */
export async function nothingOpen(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  const question = 'select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 as "isPast"';
  for (;;) {
    const answer = await client.query<{ isPast: boolean }>(question, [rows[0]!.xid]);
    if (answer.rows[0]!.isPast) return;
    await sleep(2);
  }
}
