/** What tests of programs that use Stint need: `import { testEngine } from 'stint/testing'`. */
export { testEngine, type TestEngine, type TestOptions } from './test-engine.ts';
export { VirtualClock } from '../time/clock.ts';
