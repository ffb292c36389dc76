// The Bedrock port of `stint serve`: who may connect, and how missed repeats are handled.
import { expect, test } from 'vitest';
import { Client } from '../bedrock/client.ts';
import { Place } from './stint.ts';
import { detail } from '../support/detail.ts';

const flag = '--allow-unauthenticated-bedrock';
const offHttp = ['--http', 'off'];

test('serve listens for Bedrock clients of other machines only if that is allowed by name', async () => {
  using place = new Place();
  const refused = await place.stint('serve', ...offHttp, '--bedrock', '0.0.0.0:0');
  expect(refused.code).toBe(2);
  expect(refused.err).toContain('the Bedrock protocol has no authentication');
  expect(refused.err).toContain(flag);

  const server = place.start('serve', ...offHttp, '--bedrock', '0.0.0.0:0', flag);
  const [, port] = await server.says(/Bedrock +0\.0\.0\.0:(\d+) +other machines have access, without authentication/);
  const client = await Client.connect(Number(port));
  expect((await client.ask('Ping')).status).toBe('200 OK');
  await client.close();
  expect(await server.stop()).toMatchObject({ code: 0 });
});

detail('serve lets missed repeats skip to their next slot if it is told to', async () => {
  using place = new Place();
  const missed = async (...flags: string[]): Promise<boolean> => {
    const server = place.start('serve', ...offHttp, '--bedrock', '127.0.0.1:0', ...flags);
    const [, port] = await server.says(/Bedrock +127\.0\.0\.1:(\d+)/);
    const client = await Client.connect(Number(port));
    const { body } = await client.ask(
      'CreateJob', { name: 'x', repeat: 'SCHEDULED, +1 HOUR', firstRun: '2026-01-01 00:30:00' },
    );
    const { jobID } = JSON.parse(body) as { jobID: number };
    await client.ask('GetJob', { name: 'x' });
    expect((await client.ask('FinishJob', { jobID })).status).toBe('200 OK');
    const { nextRun } = JSON.parse((await client.ask('QueryJob', { jobID })).body) as { nextRun: string };
    await client.ask('DeleteJob', { jobID });
    await client.close();
    expect(await server.stop()).toMatchObject({ code: 0 });
    expect(nextRun).toMatch(/:30:00$/);
    return new Date(`${nextRun.replace(' ', 'T')}Z`) < new Date();
  };
  expect(await missed()).toBe(true);
  expect(await missed('--bedrock-reanchor')).toBe(false);
});
