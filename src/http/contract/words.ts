/** The words of the contract: the names of states, kinds, roles and actions. */
export const apiPath = '/api/v1';

/** The roles of callers. An operator includes viewer and producer; an admin includes all roles. */
export const roles = ['viewer', 'producer', 'worker', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export const standingWords = ['pending', 'held', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export const stateWords = ['pending', 'held', 'running', 'ended'] as const;
export const kindWords = ['run', 'task', 'bedrock', 'mock', 'def', 'audit', 'type', 'build', 'limit', 'pause'] as const;
export const runStateWords = ['PENDING', 'RUNNING', 'DONE', 'CANCELLING', 'CANCELLED'] as const;
export const bedrockWords = ['QUEUED', 'RUNNING', 'RUNQUEUED', 'PAUSED', 'FINISHED', 'FAILED', 'CANCELLED'] as const;
export const statusWords = [
  'SCHEDULED', 'RUNNING', 'DISABLED', 'COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED',
] as const;
export const scheduledWords = [
  'creating', 'pending', 'starting', 'started', 'completed', 'failed', 'cancelled',
] as const;
export const progressWords = ['RUNNING', 'SUCCESS', 'ERROR', 'CANCELLED'] as const;
export const errorWords = [
  'unknown', 'crashed', 'automation', 'timed out', 'missing output', 'not permitted', 'could not start',
] as const;
export const levelWords = ['debug', 'info', 'warn', 'error'] as const;
export const phaseWords = ['prepare', 'run', 'gather'] as const;
export const savedViewPageWords = ['runs', 'definitions', 'failures', 'types', 'queues', 'audit'] as const;
export const bulkActions = ['cancel', 'stop', 'retry', 'delete', 'pause', 'resume'] as const;
