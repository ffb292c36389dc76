// One instance of the Chronos test: definitions tick every second, and the handlers of their runs write to the ledger.
import { cron, Engine, jobDef, jobType } from '../../../src/index.ts';
import { of, tell } from '../../engine/processes/children/ledger.ts';
import type { InstanceOptions } from '../instance-process.ts';
import { defNames } from './definitions.ts';

const { url, ...options } = JSON.parse(process.argv[2]!) as InstanceOptions;

const ticked = jobType('ticked', {
  retry: { crashes: 1_000 },
  run: (context) => {
    tell('start', of(context));
    tell('done', of(context));
  },
});
const everySecond = { schedules: cron('* * * * * *', { zone: 'UTC' }), overlap: 'allow', misfire: 'all' } as const;
const defs = defNames.map((name) => jobDef(name, ticked, everySecond));

const engine = new Engine({ ...options, store: url, types: [ticked], defs });
await engine.resume();
console.log('ready');
