// What is deployed agrees with the program: its variables, its paths, and how long it takes to stop.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { program } from '../../src/cli/program.ts';
import { variableOf } from '../../src/cli/setting-variables.ts';
import { stopMaxMs } from '../../src/cli/stop.ts';
import { urlVariables } from '../../src/open/store-url.ts';
import { storeVariables } from '../../src/open/url-variables.ts';
import { renderedFirstLine } from '../../tools/package/chart-digest.ts';
import { readStages, textsOf, wordsOf } from './dockerfile.ts';

type ChartSchema = { readonly properties: { readonly terminationGracePeriodSeconds: { readonly minimum: number } } };

const read = (path: string): string => readFileSync(path, 'utf8');
const chart = 'deploy/helm/stint';
const chartSchema = JSON.parse(read(`${chart}/values.schema.json`)) as ChartSchema;
const rendered = read('test/deploy/rendered.yaml');
const units = globSync('deploy/systemd/*.service').sort();
const ofChart = globSync(`${chart}/**/*.{yaml,tpl}`);
const files = ['Dockerfile', 'compose.yaml', ...units, ...ofChart, 'test/deploy/rendered.yaml'];

const commands = program().commands.filter((each) => ['serve', 'work'].includes(each.name()));
const options = commands.flatMap((each) => each.options);
const variables = new Set([...options.map(variableOf), ...urlVariables, ...storeVariables]);
/** Compose itself reads them, for the owner of a container. */
const composeVariables = ['STINT_UID', 'STINT_GID'];

test.each(files)('%s sets only variables that the program reads', (path) => {
  const found = read(path).match(/\bSTINT_[A-Z][A-Z_]*\b/g) ?? [];
  expect(found.filter((name) => !variables.has(name) && !composeVariables.includes(name))).toEqual([]);
});

test('every platform waits longer for the end of a process than a stop takes', () => {
  const preStop = Number(/command: \[sleep, "(\d+)"\]/.exec(rendered)![1]);
  const waits = [
    ...units.map((unit) => Number(/^TimeoutStopSec=(\d+)$/m.exec(read(unit))![1])),
    Number(/stop_grace_period: (\d+)s\n {2}depends_on/.exec(read('compose.yaml'))![1]),
    Number(/terminationGracePeriodSeconds: (\d+)/.exec(rendered)![1]) - preStop,
    chartSchema.properties.terminationGracePeriodSeconds.minimum - preStop,
  ];
  for (const seconds of waits) expect(seconds * 1_000).toBeGreaterThan(stopMaxMs);
});

describe('the image', () => {
  const stages = readStages();
  const last = stages.at(-1)!;

  test('runs as a user without rights, without a shell, with a health check', () => {
    expect(textsOf(last, 'USER')).toEqual(['node']);
    expect(wordsOf(textsOf(last, 'ENTRYPOINT')[0]!)[0]).toBe('node');
    expect(wordsOf(textsOf(last, 'CMD')[0]!)).toContain('serve');
    expect(textsOf(last, 'HEALTHCHECK')[0]).toContain('/health');
    expect(textsOf(last, 'RUN').join()).not.toMatch(/npm|apt/);
  });

  test('has the Node that the repository pins', () => {
    const { optionalDependencies } = JSON.parse(read('tools/node/package.json')) as { optionalDependencies: object };
    const [, version] = /^ARG NODE_VERSION=(\S+)$/m.exec(read('Dockerfile'))!;
    expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([version]));
    for (const { base } of stages) expect(base).toBe('node:${NODE_VERSION}-slim');
  });

  test('is built from files that exist, and of which none is a secret', () => {
    const lines = read('.dockerignore').split('\n');
    const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(allowed.filter((path) => !existsSync(path))).toEqual([]);
    expect(allowed).not.toContain('secrets');
  });
});

describe('Compose', () => {
  const text = read('compose.yaml');

  test('publishes ports to this machine only', () => {
    const published = [...text.matchAll(/^ +ports: (\[.*\])$/gm)].flatMap(([, list]) => JSON.parse(list!) as string[]);
    expect(published).toEqual(['127.0.0.1:7070:7070']);
  });

  test('has every secret in a file, none in a variable', () => {
    expect(text).not.toMatch(/postgres(ql)?:\/\/|PASSWORD:|TOKENS: *[[{]/);
    expect(text.match(/_FILE: \S+/g)!.every((line) => line.includes('/run/secrets/'))).toBe(true);
    expect(read('.gitignore').split('\n')).toContain('secrets/');
  });
});

describe('the chart', () => {
  const templates = globSync(`${chart}/templates/*`);

  test('the rendered copy is that of these templates', () => {
    expect(rendered.split('\n')[0]).toBe(renderedFirstLine());
  });

  test('its values fit their schema once the required ones are set, and not before', () => {
    const schema = z.fromJSONSchema(chartSchema);
    const secret = { secretName: 'some', key: 'key' };
    const given = { image: { repository: 'r' }, database: secret, tokens: secret, server: { replicas: 2 }, worker: {} };
    expect(schema.safeParse(given).error).toBeUndefined();
    const wrong = [
      { ...given, image: { repository: '' } },
      { ...given, terminationGracePeriodSeconds: 30 },
      { ...given, settings: { DATABASE_URL: 'postgres://…' } },
      { ...given, sever: {} },
    ];
    for (const values of wrong) expect(schema.safeParse(values).success, JSON.stringify(values)).toBe(false);
  });

  test('every value that a template reads has a default', () => {
    const texts = templates.map(read).join('');
    const paths = new Set([...texts.matchAll(/\.Values\.([\w.]+)/g)].map(([, name]) => name!));
    const defaults = pathsIn(read(`${chart}/values.yaml`));
    expect([...paths].filter((path) => !defaults.has(path))).toEqual([]);
  });
});

/** The paths of the keys of a YAML file that indents by two spaces. */
function pathsIn(yaml: string): Set<string> {
  const path: string[] = [];
  return new Set([...yaml.matchAll(/^( *)(\w+):/gm)].map(([, indent, key]) => {
    path.splice(indent!.length / 2, Infinity, key!);
    return path.join('.');
  }));
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.skipIf(!hasSystemd)('systemd', () => {
  /** A copy whose program exists, since the check looks for it. */
  function copyOf(unit: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'stint-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const copy = join(folder, basename(unit));
    writeFileSync(copy, read(unit).replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    return copy;
  }

  test.each(units)('%s has no mistake, and exposes little', (unit) => {
    const copy = copyOf(unit);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' });
    const own = stderr.split('\n').filter((line) => line.includes(basename(unit)));
    expect([status, own]).toEqual([0, []]);
    const words = ['security', '--offline=true', '--threshold=15', '--no-pager', copy];
    execFileSync('systemd-analyze', words, { stdio: 'pipe' });
  });
});
