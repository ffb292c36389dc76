/** `stint doctor`: checks the store and its instances and suggests fixes; exit code 1 if there is a problem. */
import type { Command } from 'commander';
import type { Finding } from '../../engine/inspect/doctor.ts';
import { storeUrl } from '../../open/store-url.ts';
import { systemClock } from '../../time/clock.ts';
import { openStore } from '../open-store.ts';
import { harmless, printJson, printLine, styled, type Style } from '../print.ts';
import { addStoreFlags, type CommonFlags } from '../session.ts';
import { shownUrl } from '../shown-url.ts';

export function doctorCommand(program: Command): void {
  addStoreFlags(
    program.command('doctor').description('check the store and instances; exit code 1: a problem was found'),
  ).action(doctor);
}

/** Opens the store without migrating it, because this command may be newer than the running instances. */
async function doctor({ store, json }: CommonFlags): Promise<void> {
  const url = storeUrl(store);
  if (!json) printLine(styled('dim', `checking ${shownUrl(url)}`));
  const { unusableStore } = await import('../../engine/inspect/doctor.ts');
  const findings = await findingsOf(url).catch((error: unknown) => [unusableStore(error)]);
  if (findings.some(({ level }) => level === 'problem')) process.exitCode = 1;
  if (json) printJson(findings);
  else findings.forEach(print);
}

async function findingsOf(url: string): Promise<readonly Finding[]> {
  const { runDoctor } = await import('../../engine/inspect/doctor.ts');
  const { Jobs } = await import('../../jobs.ts');
  const store = await openStore(url, { create: false, isPatient: false });
  try {
    return await runDoctor(new Jobs(store), systemClock);
  } finally {
    await store.close();
  }
}

const signs: Readonly<Record<Finding['level'], readonly [sign: string, style: Style]>> = {
  fine: ['✓', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✗', 'red'],
};

function print({ level, about, says, todo }: Finding): void {
  const [sign, style] = signs[level];
  printLine(`${styled(style, sign)} ${about.padEnd(13)} ${harmless(says)}`);
  if (todo !== null) printLine(`  ${' '.repeat(13)} ${styled('dim', `→ ${todo}`)}`);
}
