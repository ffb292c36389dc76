// The program of a storm's members, bundled: whoever is killed several times a second must start in a moment, and what
// it is made of must not change while the storm lasts.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..', '..');

/** Answers the file to start. */
export async function bundledProgram(folder: string, entry = 'test/storm/member.ts'): Promise<string> {
  const outDir = join(folder, 'program');
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      minify: false,
      target: 'node24',
      rolldownOptions: {
        input: { member: join(root, entry), 'backup-heartbeat-thread': join(root, 'src/open/backup-heartbeat-thread.ts') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  return join(outDir, 'member.js');
}
