import { cron, Engine, jobDef, jobType } from 'stint';
import { z } from 'zod';

const sendMail = jobType('mail.send', {
  input: z.object({ to: z.email(), text: z.string() }),
  retry: { attempts: 5 },
  timeout: '20s',
  run: async ({ input, log, signal }) => {
    log.info(`sending to ${input.to}`);
    signal.throwIfAborted();
    return { sent: input.text.length };
  },
});

const digest = jobDef('daily digest', sendMail, {
  params: { to: 'ops@example.org', text: 'All is well.' },
  schedules: cron('30 6 * * *', { zone: 'Europe/Berlin' }),
});

await using engine = new Engine({ store: 'sqlite:.stint/quick.db', defs: [digest] });
await engine.resume();
const run = await engine.createJobRun(sendMail, { input: { to: 'ada@example.org', text: 'Hello' } });
console.log(await run.result());
