/**
 * The states of a job, which say what may happen to it next, and the values of related fields: kind, hold, phase, fate,
 * codes.
 */

/**
 * The kind of a job: a run of a type, a task of a run, a Bedrock job or a mock of one, a definition, an audit
 * entry, a job type of the catalogue, a build that declares types and definitions, a named limit, a pause of a type or key.
 */
export type Kind = 'run' | 'task' | 'bedrock' | 'mock' | 'def' | 'audit' | 'type' | 'build' | 'limit' | 'pause';
export const kinds: readonly Kind[] = ['run', 'task', 'bedrock', 'mock', 'def', 'audit', 'type', 'build', 'limit', 'pause'];
/** The kinds of jobs that users see as jobs; the other kinds are records about them. */
export const jobKinds: readonly Kind[] = ['run', 'task', 'bedrock', 'mock'];
/** The kinds that workers execute and metrics count; mocks exist only for tests. */
export const workKinds: readonly Kind[] = ['run', 'task', 'bedrock'];

export type State = 'pending' | 'held' | 'running' | 'ended';
export const states: readonly State[] = ['pending', 'held', 'running', 'ended'];

/** What a held job waits for. */
export type Hold = 'pause' | 'parent' | 'children' | 'runs';
export const holds: readonly Hold[] = ['pause', 'parent', 'children', 'runs'];

/**
 * The phase that the holder of a run executes. A run with tasks prepares them, waits for them, then gathers their
 * results.
 */
export type Phase = 'prepare' | 'run' | 'gather';
export const phases: readonly Phase[] = ['prepare', 'run', 'gather'];

export type Fate = 'succeeded' | 'failed' | 'cancelled';
export const fates: readonly Fate[] = ['succeeded', 'failed', 'cancelled'];

export type ErrorCode =
  | 'unknown'
  | 'crashed'
  | 'automation'
  | 'timed out'
  | 'missing output'
  | 'not permitted'
  | 'could not start';
export const errorCodes: readonly ErrorCode[] = [
  'unknown', 'crashed', 'automation', 'timed out', 'missing output', 'not permitted', 'could not start',
];

export type TerminateCode = 'user' | 'admin' | 'automation' | 'parent' | 'server';
export const terminateCodes: readonly TerminateCode[] = ['user', 'admin', 'automation', 'parent', 'server'];
