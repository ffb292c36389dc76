/** `stint migrate`: brings the database's schema to this version. */
import type { Command } from 'commander';
import { openStore, storeUrl } from '../../open/store.ts';
import { printJson, printLine } from '../print.ts';
import { asking, type CommonFlags } from '../session.ts';

export function migrateCommand(program: Command): void {
  asking(program.command('migrate').description('bring the schema to this version'))
    .option('--dry-run', 'print the statements, run none')
    .action(migrate);
}

async function migrate({
  store: url,
  json,
  dryRun = false,
}: CommonFlags & { readonly dryRun?: boolean }): Promise<void> {
  const store = openStore(storeUrl(url));
  try {
    const migration = await store.migrate({ dryRun });
    if (json) return printJson(migration);
    if (dryRun) for (const statement of migration.statements) printLine(`${statement};`);
    printLine(
      migration.from === migration.to
        ? `-- schema ${migration.to} is current`
        : `-- schema ${migration.from} → ${migration.to}`,
    );
  } finally {
    await store.close();
  }
}
