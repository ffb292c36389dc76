// No key, token or password is in the repository: whoever installs Stint makes his own.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..', '..');
const generated = new Set(['node_modules', 'dist', 'artifacts', 'artefacts', '.git', '.stint']);
const isText = (path: string): boolean => statSync(join(root, path)).isFile() && !/\.(png|db|gz|woff2|tgz)$/.test(path);

/** The files of the repository, and those that could be added to it. What git ignores may hold secrets of the developer. */
function filesOfGit(): readonly string[] | null {
  if (!existsSync(join(root, '.git'))) return null;
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  if (listed.status !== 0) return null;
  return listed.stdout.toString().split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}

/** In a copy of the sources without git. */
const filesOfFolder = (): readonly string[] => globSync('**/*', { cwd: root, exclude: (name) => generated.has(name.split('/').at(-1)!) });

const files = (filesOfGit() ?? filesOfFolder()).filter(isText);

const secrets: Readonly<Record<string, RegExp>> = {
  'a private key': /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*[A-Za-z0-9+/]{40}/,
  'a token of Stint': /stint_[0-9a-f]{8}_[0-9a-f]{64}/,
  'a key of AWS': /\bAKIA[0-9A-Z]{16}\b/,
  'a token of GitHub, GitLab or npm': /\b(?:gh[pousr]_[A-Za-z0-9]{36}|glpat-[\w-]{20}|npm_[A-Za-z0-9]{36})\b/,
  'a token of Slack': /\bxox[abprs]-[\w-]{20,}/,
};

const secretsIn = (text: string): string[] =>
  Object.entries(secrets).filter(([, pattern]) => pattern.test(text)).map(([name]) => name);

test('no file contains a secret', () => {
  expect(files.length).toBeGreaterThan(1_000);
  const found = files.flatMap((path) => secretsIn(readFileSync(join(root, path), 'utf8')).map((name) => `${path}: ${name}`));
  expect(found).toEqual([]);
});

test('what is deployed takes its secrets from files that the operator makes', () => {
  const deployed = files.filter((path) => /^(compose\.yaml|Dockerfile|deploy\/)/.test(path));
  expect(deployed.length).toBeGreaterThan(3);
  const given = deployed.flatMap((path) => [...readFileSync(join(root, path), 'utf8')
    .matchAll(/(?:PASSWORD|SECRET|STINT_TOKENS|ENCRYPTION_KEYS)["']?\s*[:=]\s*["']?[^\s"'{}$<#/][^\n]*/g)].map(([line]) => `${path}: ${line}`));
  expect(given).toEqual([]);
});

test('a secret is found', () => {
  expect(secretsIn(`token: ${['stint', 'a'.repeat(8), 'b'.repeat(64)].join('_')}`)).toEqual(['a token of Stint']);
  expect(secretsIn(['-----BEGIN PRIVATE', ` KEY-----\n${'M'.repeat(64)}`].join(''))).toEqual(['a private key']);
});
