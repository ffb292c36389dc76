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

export interface BedrockServices {
  readonly store: Store;
  readonly queue: Queue;
  readonly longPolls: LongPolls;
  /** The patterns that CrashBedrockJob has set. A job whose name matches fails instead of being handed out. */
  readonly crashing: Map<string, Glob>;
  /** See `reanchor` of BedrockOptions. */
  readonly reanchor: boolean;
  /** The maximum number of rows and the maximum duration of a Query. */
  readonly inspection: { readonly rowsMax: number; readonly timeMs: number };
}

export interface Reply extends Response {
  /** Called if the reply cannot be delivered. Releases the jobs that the reply hands out. */
  readonly onLost?: () => Promise<void>;
}

export interface BedrockCommand {
  readonly run: (call: BedrockCall) => Reply | Promise<Reply>;
  readonly statuses?: Statuses;
  /** Whether only callers on this machine may use the command. */
  readonly isLocal?: boolean;
}

export const ok: Reply = { status: '200 OK' };
