/** The checkers of invariants, for the simulation, the storms and `stint verify`. */
export { verify, type VerifyOptions } from './verify/verify.ts';
export type { VerifyProgress } from './verify/inspection.ts';
export { checkHistory, type JobWithHistory } from './verify/history.ts';
export { checkStep, type HistoryStep } from './verify/step.ts';
export { RateInUse } from './verify/rate-in-use.ts';
export type { Evidence, Start } from './verify/evidence.ts';
export { violationText, violation, type Invariant, type Violation } from './verify/violation.ts';
