// One instance of the Chronos test: definitions that tick every second, whose runs tell the ledger of themselves.
import { cron, Engine, jobDef, jobType } from '../../../src/index.ts';
import { of, tell } from '../../engine/processes/children/ledger.ts';
import type { MemberOptions } from '../member.ts';
import { defNames } from './definitions.ts';

const { url, ...options } = JSON.parse(process.argv[2]!) as MemberOptions;

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
