/** The worker process of the measure `result`: its runs return the time at which they end. */
import { Engine } from '../../src/index.ts';
import { timed } from './result-type.ts';

const engine = new Engine({ store: process.argv[2]!, types: [timed], slots: 50 });
await engine.resume();
process.send!('ready');
process.once('SIGTERM', () => void engine.close({ patience: '1s' }).then(() => process.exit(0)));
