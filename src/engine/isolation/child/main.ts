/** The child: the entry of a thread or process of its own, which works on the calls it is sent, one after the other. */
import { isMainThread } from 'node:worker_threads';
import { systemClock } from '../../../time/clock.ts';
import type { ChildCommand } from '../messages.ts';
import { markAsIsolated } from '../nesting.ts';
import { processLink } from './process-link.ts';
import { threadLink } from './thread-link.ts';
import { errorFromData, errorToData } from '../error-transfer.ts';
import { HandlerCall } from './handler-call.ts';

markAsIsolated();
const link = isMainThread ? processLink() : threadLink();
let current: HandlerCall | null = null;
let stopIdling = (): void => {};

// What nobody catches ends the child and with it the call, whatever flags the engine was started with.
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, crash);
link.listen(handle);

function handle(command: ChildCommand): void {
  if (command.kind === 'abort') current?.abort(errorFromData(command.reason));
  else void runCall(command);
}

async function runCall({ call, mark, idleMs }: Extract<ChildCommand, { kind: 'call' }>): Promise<void> {
  stopIdling();
  current = new HandlerCall(call, link.report);
  const outcome = await current.outcome();
  current = null;
  link.printed(mark);
  link.report(outcome);
  stopIdling = systemClock.after(idleMs, () => process.exit(0));
}

function crash(error: unknown): void {
  link.report({ kind: 'crashed', error: errorToData(error) });
  process.exit(1);
}
