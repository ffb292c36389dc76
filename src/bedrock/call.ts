/** The call: one request on its way through a command, and what commands work with. */
import type { Queue } from '../jobs/bedrock/queue.ts';
import type { Glob } from '../model/glob.ts';
import type { Store } from '../store/store.ts';
import type { Caller } from './caller.ts';
import type { Request, Response } from './message.ts';
import type { Statuses } from './status.ts';
import type { Waiting } from './long-polls.ts';

export interface Call extends Request {
  readonly caller: Caller;
  readonly desk: Desk;
}

/** What all commands of a server share. */
export interface Desk {
  readonly store: Store;
  readonly queue: Queue;
  readonly waiting: Waiting;
  /** Jobs with names like these fail instead of being handed out. */
  readonly crashing: Map<string, Glob>;
  /** Whether a missed repeat skips to the first slot after now instead of catching up. */
  readonly reanchor: boolean;
  readonly inspection: { readonly rowsMax: number; readonly timeMs: number };
}

export interface Reply extends Response {
  /** What is to be undone when the caller cannot be told. */
  readonly onLost?: () => Promise<void>;
}

export interface Command {
  readonly run: (call: Call) => Reply | Promise<Reply>;
  readonly statuses?: Statuses;
  /** Only for callers on this machine. */
  readonly isLocal?: boolean;
}

export const ok: Reply = { status: '200 OK' };
