/** `stint/server`: the HTTP and Bedrock servers that `stint serve` opens, for programs that open them themselves. */
export { createHttp, type Http, type HttpOptions } from './http/server.ts';
export { type Listening, type ListenOptions } from './http/listen.ts';
export { startHttp, type Started, type StartOptions } from './http/start.ts';
export { mountHttp, type Mounted, type MountOptions } from './http/mount.ts';
export type { AccessOptions, Caller } from './http/access/access.ts';
export { startBedrock, type StartBedrockOptions, type StartedBedrock } from './bedrock/start.ts';
