// A Bedrock::Jobs client creates, claims and finishes a job over the wire; Stint shows its history.
import { connect } from 'node:net';
import { Engine } from 'stint';
import { startBedrock } from 'stint/server';

await using engine = new Engine({ store: 'sqlite:.stint/bedrock.db' });
await engine.ready();
const bedrock = await startBedrock({ engine, port: 0 });

const socket = connect(bedrock.port, bedrock.host).setEncoding('utf8');
const answers = socket.iterator({ destroyOnReturn: false });

/** Sends a request and returns the body of the response. */
async function send(...lines: string[]): Promise<string> {
  console.log(lines.join('\n'));
  socket.write(`${lines.join('\n')}\n\n`);
  const { value } = (await answers.next()) as { value: string };
  console.log(`→ ${value.trim().replaceAll('\r\n', '\n→ ')}\n`);
  return value.split('\r\n\r\n')[1] ?? '';
}

const created = await send('CreateJob', 'name: invoices', 'data: {"month":"2026-03"}', 'repeat: SCHEDULED, +1 MONTH');
const { jobID } = JSON.parse(created) as { jobID: number };
await send('GetJob', 'name: invoices');
await send('UpdateJob', `jobID: ${jobID}`, 'data: {"month":"2026-03","sent":120}');
await send('FinishJob', `jobID: ${jobID}`, 'data: {"month":"2026-04"}');
await send('QueryJob', `jobID: ${jobID}`);

console.log('The same job, as its history in Stint:');
for (const { n, kind, by } of await engine.history(jobID)) console.log(`  ${n} ${kind} by ${by}`);
socket.end();
await bedrock.close();
