// The chart, rendered by Helm and checked against the schemas of Kubernetes. HELM names the program if it is not on the
// path. STINT_WRITE_CHART=1 writes the rendered copy that the tests of every run read.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderedFirstLine } from '../../tools/package/chart-digest.ts';
import { npmInstall } from '../package/npm-install.ts';

const chart = 'deploy/helm/stint';
const copy = 'test/deploy/rendered.yaml';
const helm = process.env['HELM'] ?? 'helm';
const hasHelm = spawnSync(helm, ['version']).status === 0;
const required = ['image.repository=registry.example/stint', 'database.secretName=stint', 'tokens.secretName=stint'];
const monitored = ['serviceMonitor.enabled=true', 'serviceMonitor.tokenSecretName=stint'];
const given = ['jobs[0]=/app/jobs.ts', 'settings.STINT_RETENTION=90d', 'settings.STINT_POOL_MAX=1000000'];

const render = (values: readonly string[]): string =>
  execFileSync(helm, ['template', 'jobs', chart, '--set', values.join(',')], { encoding: 'utf8', stdio: 'pipe' });

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Yaml {
  parseAllDocuments(text: string): readonly { toJSON(): unknown }[];
}

interface Model {
  validate(): void;
}

describe('what was rendered', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-chart-'));
  const require = createRequire(join(folder, 'package.json'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    writeFileSync(join(folder, 'package.json'), '{}');
    npmInstall(folder, ['kubernetes-models@4.5.1', 'yaml@2.9.1']);
  });

  const resources = (): Resource[] =>
    (require('yaml') as Yaml).parseAllDocuments(readFileSync(copy, 'utf8')).map((each) => each.toJSON() as Resource);

  function modelOf(resource: Resource): Model {
    const path = `kubernetes-models/${resource.apiVersion}/${resource.kind}`;
    const Kind = (require(path) as Record<string, new (data: object) => Model>)[resource.kind]!;
    return new Kind(resource);
  }

  test('fits the schemas of Kubernetes', () => {
    const known = resources().filter(({ kind }) => kind !== 'ServiceMonitor');
    for (const resource of known) modelOf(resource).validate();
    expect(known.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      'Deployment jobs-server', 'Deployment jobs-worker', 'PodDisruptionBudget jobs-server',
      'PodDisruptionBudget jobs-worker', 'Service jobs',
    ]);
  });

  test('a mistake is found', () => {
    const deployment = resources().find(({ kind }) => kind === 'Deployment')!;
    const wrong = { ...deployment, spec: { replicas: 'two' } };
    expect(() => modelOf(wrong).validate()).toThrow(/replicas|selector/);
  });
});

describe.skipIf(!hasHelm)('Helm', () => {
  test('accepts the chart', () => {
    const words = ['lint', '--strict', '--quiet', chart, '--set', required.join(',')];
    execFileSync(helm, words, { stdio: 'pipe' });
  });

  test('renders what the tests of every run read', () => {
    const text = `${renderedFirstLine()}\n` + render([...required, ...monitored, ...given]);
    if (process.env['STINT_WRITE_CHART']) writeFileSync(copy, text);
    expect(readFileSync(copy, 'utf8')).toBe(text);
  });

  test('refuses values that are missing, misspelt or too small', () => {
    expect(() => render([])).toThrow(/repository/);
    expect(() => render([...required, 'sever.replicas=2'])).toThrow(/sever/);
    expect(() => render([...required, 'terminationGracePeriodSeconds=30'])).toThrow(/terminationGracePeriodSeconds/);
    expect(() => render([...required, 'serviceMonitor.enabled=true'])).toThrow(/viewer token/);
  });

  test('leaves out workers, and budgets that would pin a single pod', () => {
    const text = render([...required, 'worker.replicas=0', 'server.replicas=1']);
    expect(text).not.toMatch(/worker|PodDisruptionBudget/);
  });
});
