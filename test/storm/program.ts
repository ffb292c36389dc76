// Bundles the program of the instances: they are killed several times a second and must start fast, and their source
// must not change during the storm.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..', '..');

/** Returns the path of the bundle. */
export async function bundledProgram(folder: string, entry = 'test/storm/instance-process.ts'): Promise<string> {
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
        input: {
          instance: join(root, entry),
          'backup-heartbeat-thread': join(root, 'src/open/backup-heartbeat-thread.ts'),
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  return join(outDir, 'instance.js');
}
