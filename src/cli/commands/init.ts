/** `stint init`: creates a project with one job type, one schedule and one test. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { Refusal } from '../../refusal.ts';
import { version } from '../../version.ts';
import { printLine } from '../print.ts';
import { jobsModule, jobsTest } from '../starter.ts';

export function initCommand(program: Command): void {
  program
    .command('init [folder]')
    .description('create a project with one job type, one schedule and one test')
    .action((folder = '.') => init(resolve(folder)));
}

function init(folder: string): void {
  const hasManifest = existsSync(join(folder, 'package.json'));
  const files = { 'jobs.ts': jobsModule, 'jobs.test.ts': jobsTest, ...(hasManifest ? {} : newProject(folder)) };
  const taken = Object.keys(files).filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) {
    const message = `cannot create a project in ${folder}: it has ${taken.join(' and ')}; choose another folder`;
    throw new Refusal('malformed.option', message, { folder });
  }
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { flag: 'wx' });
    printLine(`created ${join(folder, name)}`);
  }
  printLine(`\nNext, in ${folder}:`);
  if (!hasManifest) printLine('  npm install');
  if (hasManifest && lacksModuleType(folder)) printLine('  npm pkg set type=module    because jobs.ts is an ES module');
  printLine('  npx stint dev    the dashboard on port 7070; restarts when you edit jobs.ts');
  printLine('  node --test      runs jobs.test.ts');
}

/** Node reads a module of a project without a type as well, with a warning at each start. */
const lacksModuleType = (folder: string): boolean =>
  !/"type"\s*:/.test(readFileSync(join(folder, 'package.json'), 'utf8'));

function newProject(folder: string): Record<string, string> {
  const manifest = {
    name: basename(folder).toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'jobs',
    private: true,
    type: 'module',
    scripts: { dev: 'stint dev', start: 'stint serve --jobs jobs.ts', test: 'node --test' },
    dependencies: { stint: `^${version}` },
  };
  return { 'package.json': `${JSON.stringify(manifest, null, 2)}\n`, '.gitignore': 'node_modules/\n.stint/\n' };
}
