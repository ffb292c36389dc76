/** `stint/server`: the faces that `stint serve` opens, for programs that open them themselves. */
export { createHttp, type Http, type HttpOptions, type Listening, type ListenOptions } from './faces/http/server.ts';
export { startHttp, type Started, type StartOptions } from './faces/http/start.ts';
export { mountHttp, type Mounted, type MountOptions } from './faces/http/mount.ts';
export type { AccessOptions, Caller } from './faces/http/access.ts';
export { startBedrock, type StartBedrockOptions, type StartedBedrock } from './faces/bedrock/start.ts';
