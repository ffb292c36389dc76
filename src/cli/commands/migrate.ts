/** `stint migrate`: migrates the schema of the database to this version. */
import type { Command } from 'commander';
import { storeUrl } from '../../open/store-url.ts';
import { openStore } from '../open-store.ts';
import { printJson, printLine } from '../print.ts';
import { addStoreFlags, type CommonFlags } from '../session.ts';

export function migrateCommand(program: Command): void {
  addStoreFlags(program.command('migrate').description('migrate the database to the schema of this version'))
    .option('--dry-run', 'print the statements without executing them')
    .action(migrate);
}

async function migrate({
  store: url,
  json,
  dryRun = false,
}: CommonFlags & { readonly dryRun?: boolean }): Promise<void> {
  const store = await openStore(storeUrl(url));
  try {
    const migration = await store.migrate({ dryRun });
    if (json) return printJson(migration);
    if (dryRun) for (const statement of migration.statements) printLine(`${statement};`);
    printLine(
      migration.from === migration.to
        ? `-- schema ${migration.to} is up to date`
        : `-- ${dryRun ? 'would migrate' : 'migrated'} schema ${migration.from} → ${migration.to}`,
    );
  } finally {
    await store.close();
  }
}
