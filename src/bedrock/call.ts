/** The call: one request with its caller and the services that commands use. */
import type { Queue } from '../jobs/bedrock/queue.ts';
import type { Glob } from '../model/glob.ts';
import type { Store } from '../store/store.ts';
import type { BedrockCaller } from './caller.ts';
import type { BedrockRequest, Response } from './message.ts';
import type { Statuses } from './status.ts';
import type { LongPolls } from './long-polls.ts';

export interface BedrockCall extends BedrockRequest {
  readonly caller: BedrockCaller;
  readonly services: BedrockServices;
}

/** The services that all commands of a server share. */
export interface BedrockServices {
  readonly store: Store;
  readonly queue: Queue;
  readonly longPolls: LongPolls;
  /** Patterns of CrashBedrockJob: jobs with matching names fail instead of being handed out. */
  readonly crashing: Map<string, Glob>;
  /** Whether a missed repeat skips to the first slot after now instead of catching up. */
  readonly reanchor: boolean;
  readonly inspection: { readonly rowsMax: number; readonly timeMs: number };
}

export interface Reply extends Response {
  /** Undoes the command if the reply cannot be delivered. */
  readonly onLost?: () => Promise<void>;
}

export interface BedrockCommand {
  readonly run: (call: BedrockCall) => Reply | Promise<Reply>;
  readonly statuses?: Statuses;
  /** Whether only callers on this machine may use it. */
  readonly isLocal?: boolean;
}

export const ok: Reply = { status: '200 OK' };
