/** The entry of a child thread or process: executes the calls that the engine sends, one at a time. */
import { isMainThread } from 'node:worker_threads';
import { systemClock } from '../../../time/clock.ts';
import { isolatedFlag, type ChildCommand } from '../messages.ts';
import { errorFromData, errorToData } from '../error-transfer.ts';
import { HandlerCall } from './handler-call.ts';
import { processLink, threadLink } from './links.ts';

Object.defineProperty(globalThis, isolatedFlag, { value: true });
const link = isMainThread ? processLink() : threadLink();
let current: HandlerCall | null = null;
let stopIdleTimer = (): void => {};

// An uncaught error or unhandled rejection always ends the child and fails its call, even if the engine was started
// with `--unhandled-rejections=warn`.
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, crash);
link.listen(handle);

function handle(command: ChildCommand): void {
  if (command.kind === 'abort') current?.abort(errorFromData(command.reason));
  else void runCall(command);
}

async function runCall({ call, mark, idleMs }: Extract<ChildCommand, { kind: 'call' }>): Promise<void> {
  stopIdleTimer();
  current = new HandlerCall(call, link.report);
  const outcome = await current.outcome();
  current = null;
  link.endOutput(mark);
  link.report(outcome);
  stopIdleTimer = systemClock.after(idleMs, () => process.exit(0));
}

function crash(error: unknown): void {
  link.report({ kind: 'crashed', error: errorToData(error) });
  process.exit(1);
}
