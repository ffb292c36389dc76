// Limits of runs whose parameters have an older version of the type than the code.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { every, jobType, type DefEntry, type Engine } from '../../../src/index.ts';
import { versionsOfType } from '../../../src/http/type-version-views.ts';
import { Fleet } from './fleet.ts';

const run = (): void => {};

/** Version 1 has the tenant at the path `tenant`, version 2 at the path `to.tenant`. */
const typesWith = (
  keyOf1: 'tenant' | ((input: { tenant: string }) => string),
  keyOf2: 'to.tenant' | ((input: { to: { tenant: string } }) => string),
) => ({
  1: jobType('mail', {
    input: z.strictObject({ tenant: z.string() }), limit: { key: keyOf1, concurrency: 1 },
    fairness: { key: keyOf1 }, run,
  }),
  2: jobType('mail', {
    version: 2, upgrade: { 1: ({ tenant }: { tenant: string }) => ({ to: { tenant } }) },
    input: z.strictObject({ to: z.strictObject({ tenant: z.string() }) }), limit: { key: keyOf2, concurrency: 1 },
    fairness: { key: keyOf2 }, run,
  }),
});

const forms = [
  { name: 'as paths', types: typesWith('tenant', 'to.tenant') },
  { name: 'by functions', types: typesWith(({ tenant }) => tenant, ({ to }) => to.tenant) },
] as const;

async function closeAll(fleet: Fleet, ...engines: Engine[]): Promise<void> {
  for (const engine of engines) await fleet.passing(engine.close());
}

const gateOf = async (engine: Engine, id: number): Promise<unknown> => (await engine.get(id)).gate;

for (const { name, types } of forms) {
  test(`runs of a definition with old parameters keep the key and the share that types state ${name}`, async () => {
    const fleet = new Fleet();
    const old = await fleet.start({ instance: 'old', build: '1', types: [types[1]] });
    await old.define('daily', 'mail', { params: { tenant: 'acme' }, schedules: every('1h') });
    const { id } = await old.createNamed({ def: 'daily' }, {});
    const gate = await gateOf(old, id);
    expect(gate).toBe('any/mail/daily/acme//#@acme:1');
    await fleet.passing(old.close());
    const current = await fleet.start({ instance: 'new', build: '2', types: [types[2]] });
    expect(await gateOf(current, (await current.createNamed({ def: 'daily' }, {})).id)).toEqual(gate);
    await fleet.advance(3_700_000);
    const ticked = (await current.find({ def: 'daily' })).jobs.find(({ tick }) => tick !== null)!;
    expect(ticked).toMatchObject({ typeVersion: 1, gate });
    const server = await fleet.start({ instance: 'server', build: 'none' });
    expect(await gateOf(server, (await server.createNamed({ def: 'daily' }, {})).id)).toEqual(gate);
    await closeAll(fleet, current, server);
  });

  test(`a document with old parameters gives their runs the key and the share that types state ${name}`, async () => {
    const fleet = new Fleet();
    const current = await fleet.start({ instance: 'new', build: '2', types: [types[2]] });
    const document: { definitions: DefEntry[] } = {
      definitions: [{ name: 'daily', type: 'mail', typeVersion: 1, params: { tenant: 'acme' }, schedules: [{ every: '1h' }] }],
    };
    await current.applyDefinitions(document);
    const { id } = await current.createNamed({ def: 'daily' }, {});
    expect(await gateOf(current, id)).toBe('any/mail/daily/acme//#@acme:1');
    await current.override('daily', { schedules: every('2h') });
    expect(await gateOf(current, (await current.createNamed({ def: 'daily' }, {})).id)).toEqual(await gateOf(current, id));
    const wrong = { definitions: [{ ...document.definitions[0]!, params: { tenant: 7 } }] };
    await expect(current.planDefinitions(wrong)).rejects.toMatchObject({ code: 'malformed.input' });
    const server = await fleet.start({ instance: 'server', build: 'none' });
    const other = { definitions: [{ ...document.definitions[0]!, params: { tenant: 'other' } }] };
    await expect(server.planDefinitions(other)).rejects.toMatchObject({ code: 'needs.code' });
    await closeAll(fleet, current, server);
  });
}

test('the input of a run is edited only to what the schema of its version accepts', async () => {
  const fleet = new Fleet();
  const { types } = forms[0];
  const engine = await fleet.start({ instance: 'new', build: '2', types: [types[2]] });
  const { id } = await engine.createJobRun(types[2], { input: { to: { tenant: 'acme' } }, delay: '1h' });
  await expect(engine.editJobRun(id, { input: '{"to":7}' })).rejects.toMatchObject({ code: 'malformed.input' });
  await expect(engine.editJobRun(id, { input: '{"tenant":7}', typeVersion: 1 })).rejects.toMatchObject({ code: 'malformed.input' });
  await expect(engine.editJobRun(id, { input: '{' })).rejects.toMatchObject({ code: 'malformed.json' });
  expect((await engine.get(id)).input).toBe('{"to":{"tenant":"acme"}}');
  await engine.editJobRun(id, { input: '{"tenant":"acme"}', typeVersion: 1 });
  expect(await engine.get(id)).toMatchObject({ typeVersion: 1 });
  await closeAll(fleet, engine);
});

test('old instances are not safe to stop while a definition has parameters that only they know', async () => {
  const fleet = new Fleet();
  const old = await fleet.start({ instance: 'old', build: '1', types: [forms[0].types[1]] });
  await old.define('daily', 'mail', { params: { tenant: 'acme' }, schedules: every('1h') });
  const current = await fleet.start({ instance: 'new', build: '2', types: [jobType('mail', { version: 2, run })] });
  await fleet.advance(60_000);
  const isSafe = async (): Promise<boolean> =>
    (await versionsOfType(current, 'mail', null, await current.instances())).isSafeToStopOld;
  expect(await isSafe()).toBe(false);
  await old.undefine('daily');
  expect(await isSafe()).toBe(true);
  await closeAll(fleet, old, current);
});
