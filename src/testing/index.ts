/** `stint/testing`: the test engine and the virtual clock, for tests of programs that use Stint. */
export { testEngine, type TestEngine, type TestOptions } from './test-engine.ts';
export { VirtualClock } from '../time/clock.ts';
