// The alert rules and the dashboard with a real Prometheus, which scrapes a server: Debian's package `prometheus` has both
// programs. Without it these tests are skipped.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { broken, echo, nightly, world } from '../http/world.ts';
import { waitMs } from '../support/patience.ts';
import { freePort } from '../support/postgres.ts';
import { alerts, panelQueries, rulesFile } from './monitoring.ts';

const hasPrometheus = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0);
const title = hasPrometheus ? 'Prometheus' : 'Prometheus, which is not installed (apt-get install prometheus),';

interface Answer {
  readonly status: string;
  readonly data: { readonly result: readonly unknown[] };
}

describe.skipIf(!hasPrometheus)(title, () => {
  test('accepts the rules, and fires each alert for its cause only', () => {
    execFileSync('promtool', ['check', 'rules', '--lint-fatal', rulesFile], { stdio: 'pipe' });
    execFileSync('promtool', ['test', 'rules', 'test/deploy/stint.rules.test.yaml'], { stdio: 'pipe' });
  });

  test('answers every query of the rules and of the dashboard from the metrics of a server', async () => {
    await using server = await served();
    const url = await prometheusOf(server.url);
    const ask = async (expr: string): Promise<Answer> => {
      const query = expr.replaceAll('$__rate_interval', '10s').replaceAll(/\$(?:type|definition)/g, '.*');
      return await (await fetch(`${url}/api/v1/query?${new URLSearchParams({ query }).toString()}`)).json() as Answer;
    };
    await vi.waitUntil(async () => (await ask('increase(stint_jobs_ended_total[10s]) > 0')).data.result.length > 0, waiting);
    for (const { name, expr } of [...alerts, ...panelQueries]) {
      expect({ name, ...(await ask(expr)) }).toMatchObject({ name, status: 'success' });
    }
    const shown = ['Ended jobs per second', 'Failures per second by type', 'Open jobs', 'Slots', 'Live instances', 'Time since the last success'];
    for (const { name, expr } of panelQueries.filter((each) => shown.includes(each.name))) {
      expect({ name, rows: (await ask(expr)).data.result.length }).not.toEqual({ name, rows: 0 });
    }
  });
});

const waiting = { timeout: waitMs, interval: 200 };

/** A server whose jobs succeed and fail all the time. */
async function served(): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = await world();
  const creating = setInterval(() => {
    for (const run of [echo, broken, nightly]) void server.engine.createJobRun(run).catch(() => {});
  }, 200);
  return {
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      clearInterval(creating);
      await server.close();
    },
  };
}

/** Starts a Prometheus that scrapes the server every second; returns its URL. */
async function prometheusOf(server: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-prometheus-'));
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [resolve(rulesFile)],
    scrape_configs: [{ job_name: 'stint', static_configs: [{ targets: [new URL(server).host] }] }],
  }));
  const address = `127.0.0.1:${await freePort()}`;
  const words = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`];
  const process = spawn('prometheus', words, { cwd: folder, stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(process, 'exit');
    process.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://${address}`;
  await vi.waitUntil(() => fetch(`${url}/-/ready`).then(({ ok }) => ok, () => false), waiting);
  return url;
}
