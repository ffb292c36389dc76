// Three versions of one program, as in a rolling deploy: an instance has the version that its name begins with (`v2 a`).
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { jobType } from '../../../../src/index.ts';
import { of, tell } from './ledger.ts';

const retry = { crashes: 50, base: '10ms' } as const;
const upgradeTo2 = ({ to }: { to: string }) => ({ to: [to] });
const upgradeTo3 = ({ to }: { to: string[] }) => ({ recipients: to });

type Job = Parameters<typeof of>[0];

const handlerOf = (version: number, addressesOf: (input: never) => unknown) =>
  async ({ input, ...context }: Job & { readonly input: unknown }): Promise<void> => {
    tell('start', { ...of(context), version, addresses: addressesOf(input as never) });
    await sleep(20);
  };

export const mail = {
  1: jobType('mail', {
    retry, input: z.strictObject({ to: z.string() }), run: handlerOf(1, ({ to }: { to: string }) => [to]),
  }),
  2: jobType('mail', {
    retry, version: 2, upgrade: { 1: upgradeTo2 },
    input: z.strictObject({ to: z.array(z.string()) }), run: handlerOf(2, ({ to }: { to: string[] }) => to),
  }),
  3: jobType('mail', {
    retry, version: 3, upgrade: { 1: upgradeTo2, 2: upgradeTo3 },
    input: z.strictObject({ recipients: z.array(z.string()) }),
    run: handlerOf(3, ({ recipients }: { recipients: string[] }) => recipients),
  }),
} as const;

export type Version = keyof typeof mail;

const ownVersion = /^v([123])/.exec(process.env['STINT_INSTANCE'] ?? '')?.[1];

export const types = ownVersion === undefined ? [] : [mail[Number(ownVersion) as Version]];
