// A program whose first request to the store in this argument is a run that is due in two seconds; prints the run's id.
import { Engine, jobType } from '../../../src/index.ts';

const later = jobType('later', { run: () => {} });
const engine = new Engine({ store: process.argv[2]!, types: [later], instance: 'producer' });
const run = await engine.createJobRun(later, { delay: '2s' });
process.stdout.write(String(run.id));
await engine.close();
