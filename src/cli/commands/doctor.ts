/** `stint doctor`: how the store and the instances on it fare, and what to do. Exit code 1: something must be done. */
import type { Command } from 'commander';
import { runDoctor, type Finding } from '../../engine/inspect/doctor.ts';
import { Jobs } from '../../jobs.ts';
import { openStore, storeUrl } from '../../open/store.ts';
import { systemClock } from '../../time/clock.ts';
import { harmless, printJson, printLine, styled, type Style } from '../print.ts';
import { asking, type CommonFlags } from '../session.ts';

export function doctorCommand(program: Command): void {
  asking(program.command('doctor').description('how the store and the instances fare, and what to do')).action(doctor);
}

/** The schema is looked at and not changed: whoever asks may be the older version. */
async function doctor({ store: url, json }: CommonFlags): Promise<void> {
  const store = openStore(storeUrl(url));
  try {
    const findings = await runDoctor(new Jobs(store), systemClock);
    if (findings.some(({ level }) => level === 'problem')) process.exitCode = 1;
    if (json) printJson(findings);
    else findings.forEach(print);
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
