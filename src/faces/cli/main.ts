// The command line, so far: says what it is and which version.
import { readFileSync } from 'node:fs';

const usage = `stint — schedules jobs and runs them

  stint --version    print the version
  stint --help       print this

The commands arrive with the engine.`;

function version(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return version;
}

console.log(process.argv.includes('--version') ? version() : usage);
