/** The child: the entry of a thread or process of its own, which works on the calls it is sent, one after the other. */
import { isMainThread } from 'node:worker_threads';
import { systemClock } from '../../../time/clock.ts';
import type { Order } from '../messages.ts';
import { markAsIsolated } from '../nesting.ts';
import { processLink } from './process-link.ts';
import { threadLink } from './thread-link.ts';
import { rebuild, tell } from '../error-transfer.ts';
import { Work } from './handler-call.ts';

markAsIsolated();
const link = isMainThread ? processLink() : threadLink();
let current: Work | null = null;
let stopIdling = (): void => {};

// What nobody catches ends the child and with it the call, whatever flags the engine was started with.
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, crash);
link.listen(obey);

function obey(order: Order): void {
  if (order.kind === 'abort') current?.abort(rebuild(order.reason));
  else void work(order);
}

async function work({ call, mark, idleMs }: Extract<Order, { kind: 'call' }>): Promise<void> {
  stopIdling();
  current = new Work(call, link.report);
  const outcome = await current.outcome();
  current = null;
  link.printed(mark);
  link.report(outcome);
  stopIdling = systemClock.after(idleMs, () => process.exit(0));
}

function crash(error: unknown): void {
  link.report({ kind: 'crashed', error: tell(error) });
  process.exit(1);
}
