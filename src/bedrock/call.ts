/** The call: one request on its way through a command, and what commands work with. */
import type { Queue } from '../jobs/bedrock/queue.ts';
import type { Glob } from '../model/glob.ts';
import type { Store } from '../store/store.ts';
import type { BedrockCaller } from './caller.ts';
import type { Request, Response } from './message.ts';
import type { Statuses } from './status.ts';
import type { LongPolls } from './long-polls.ts';

export interface BedrockCall extends Request {
  readonly caller: BedrockCaller;
  readonly services: BedrockServices;
}

/** What all commands of a server share. */
export interface BedrockServices {
  readonly store: Store;
  readonly queue: Queue;
  readonly longPolls: LongPolls;
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

export interface BedrockCommand {
  readonly run: (call: BedrockCall) => Reply | Promise<Reply>;
  readonly statuses?: Statuses;
  /** Only for callers on this machine. */
  readonly isLocal?: boolean;
}

export const ok: Reply = { status: '200 OK' };
