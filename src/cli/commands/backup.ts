/** `stint backup`: copies a SQLite database into a new file. */
import type { Command } from 'commander';
import { storeUrl } from '../../open/store-url.ts';
import { Refusal } from '../../refusal.ts';
import { openStore } from '../open-store.ts';
import { printJson, printLine } from '../print.ts';
import { addStoreFlags, type CommonFlags } from '../session.ts';

export function backupCommand(program: Command): void {
  const description = 'copy a SQLite database into a new file, also while servers use it';
  addStoreFlags(program.command('backup <file>').description(description)).action(backUp);
}

async function backUp(file: string, { store: url, json }: CommonFlags): Promise<void> {
  const store = await openStore(storeUrl(url), { create: false });
  try {
    if (store.backUp === undefined) {
      const message =
        'stint backup copies SQLite files; for PostgreSQL use pg_dump, or a base backup with WAL archiving';
      throw new Refusal('malformed.store', message);
    }
    await store.backUp(file);
    if (json) printJson({ file });
    else printLine(`Copied the database to ${file}. Check the copy: stint verify --store sqlite:${file}`);
  } finally {
    await store.close();
  }
}
