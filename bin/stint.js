#!/usr/bin/env -S node --max-semi-space-size=16
// The command `stint`, in plain JavaScript that any Node can read: an old Node hands over to the pinned one.
// Left to itself, Node lets the garbage of a busy worker grow to 100 MB before it looks, for no more speed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isWindows = process.platform === 'win32';
const isCheckout = existsSync(join(root, 'src', 'cli', 'main.ts'));
const main = isCheckout ? join(root, 'src', 'cli', 'main.ts') : join(root, 'dist', 'cli', 'main.js');

if (isNewEnough(process.versions.node)) {
  // Halves the time to the first line: what was compiled once is kept in the temporary folder.
  module.enableCompileCache();
  await import(pathToFileURL(main).href);
} else {
  const node = findPinnedNode();
  if (node === undefined) {
    const help = `get it from https://nodejs.org, or install it beside stint: npm install ${pinnedName()}@24`;
    console.error(`cannot start stint: it needs ${isCheckout ? '' : 'Node 22.23, or '}Node 24.15 or newer, and this is ${process.version}: ${help}`);
    process.exit(1);
  }
  handOver(node);
}

/** Node 22 cannot parse `await using`, which the sources of a checkout contain; the build does not. */
function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 15) || (major === 22 && minor >= 23 && !isCheckout);
}

/** The package that has Node as a binary, for this machine. */
function pinnedName() {
  return `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
}

function findPinnedNode() {
  try {
    const home = dirname(createRequire(import.meta.url).resolve(`${pinnedName()}/package.json`));
    return join(home, 'bin', isWindows ? 'node.exe' : 'node');
  } catch {
    return undefined;
  }
}

/** Runs the command under `node`, passes signals on to it, and ends as it ends. */
function handOver(node) {
  const words = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, words, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`cannot start ${node}: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
