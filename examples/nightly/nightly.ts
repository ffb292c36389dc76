// A job at 02:30 in Berlin on the two nights when clocks change, on a virtual clock.
import { cron, jobDef, jobType, preview } from 'stint';
import { testEngine } from 'stint/testing';

const backup = jobType('backup', { run: ({ log }) => log.info('backed up') });
const halfPastTwo = cron('30 2 * * *', { zone: 'Europe/Berlin', gap: 'next', overlap: 'first' });
const nightly = jobDef('nightly backup', backup, { schedules: halfPastTwo, misfire: { policy: 'once', window: '6h' } });

const inBerlin = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin', timeZoneName: 'short',
  day: '2-digit', month: '2-digit', hour: '2-digit', minute: '2-digit',
});

console.log('Preview for March, when 02:30 does not exist:');
for (const { shown, remark } of preview(halfPastTwo, { from: Date.parse('2026-03-27T12:00Z'), count: 3 })) {
  console.log(`  ${shown}  ${remark ?? ''}`);
}

async function runsBetween(from: string, days: number): Promise<void> {
  await using t = await testEngine({ defs: [nightly], now: from });
  await t.advance(`${days}d`);
  for (const { due } of await t.runs(nightly)) {
    console.log(`  ${inBerlin.format(due)}`);
  }
}

console.log('Runs in March:');
await runsBetween('2026-03-27T12:00:00Z', 3);
console.log('Runs in October, when 02:30 occurs twice:');
await runsBetween('2026-10-23T12:00:00Z', 3);
