// Secrets in texts: what redaction hides can neither be read in logs and progress nor be found by searching.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { newToken } from '../../src/http/access/tokens.ts';
import { api, as, records, until, world, type Reply, type World } from './world.ts';

const leaky = jobType('leaky', {
  run: async ({ log, progress }) => {
    log.info('connecting with password=hunter2');
    progress.startingStage('password=hunter2');
    throw new Error('the relay at mail.example refused: password=hunter2');
  },
  retry: { attempts: 1 },
});

const blind = newToken({ name: 'otto', role: 'operator', seesPayloads: false });
const asBlind = { headers: { authorization: `Bearer ${blind.token}` } };

let server: World;
let id: number;
beforeAll(async () => {
  server = await world({ engine: { types: [leaky] }, access: { tokens: [...records, blind.record] } });
  const tags = { team: 'mail', apiToken: 'hunter3' };
  id = (await server.post(`${api}/runs`, { type: 'leaky', tags }, as('admin'))).body.id as number;
  await until(async () => (await server.get(`${api}/runs/${id}`, as('admin'))).body.state === 'ended');
});
afterAll(() => server.close());

const found = async (filter: string, who = as('viewer')): Promise<number[]> =>
  (await server.get(`${api}/runs?${filter}`, who)).body.items.map((run: { id: number }) => run.id);

describe('a viewer', () => {
  test.each(['hunter2', 'hunter', 'unter2', 'password=h', 'd=hunter2'])('does not find a secret by its part %s', async (part) => {
    const text = encodeURIComponent(part);
    expect(await found(`error=${text}`)).toEqual([]);
    expect(await found(`q=${text}`)).toEqual([]);
    expect(await found(`error=${text}`, as('operator'))).toEqual([id]);
    const answers = await Promise.all(['error', 'q'].map((name) => server.get(`${api}/runs/count?${name}=${text}`, as('viewer'))));
    expect(answers.map(({ body }) => body)).toEqual([{ total: 0, items: [], isCut: false }, { total: 0, items: [], isCut: false }]);
    const page = await server.get(`${api}/runs?limit=1&error=${text}`, as('viewer'));
    expect(page.body).toEqual({ items: [], next: null });
  });

  test('finds the rest of the same message, and counts it', async () => {
    expect(await found('error=mail.example')).toEqual([id]);
    expect(await found('q=RELAY')).toEqual([id]);
    const { body } = await server.get(`${api}/runs/count?error=relay`, as('viewer'));
    expect(body).toEqual({ total: 1, items: [{ kind: 'run', type: 'leaky', standing: 'failed', count: 1 }], isCut: false });
  });

  test('gets every page of a search, each run once', async () => {
    const ids = new Set<number>([id]);
    for (let n = 0; n < 4; n++) {
      ids.add((await server.post(`${api}/runs`, { type: 'leaky' }, as('admin'))).body.id as number);
    }
    await until(async () => (await found('state=failed&error=relay', as('admin'))).length === ids.size);
    const pages: number[] = [];
    let next: number | null = null;
    do {
      const after: string = next === null ? '' : `&after=${next}`;
      const { body } = await server.get(`${api}/runs?error=relay&limit=2${after}`, as('viewer'));
      pages.push(...body.items.map((run: { id: number }) => run.id));
      next = body.next;
    } while (next !== null);
    expect(pages).toEqual([...ids].sort((a, b) => b - a));
  });

  test('reads logs, progress and tags without secrets', async () => {
    const answers: Reply[] = [];
    for (const part of ['', '/log', '/progress', '/events']) {
      answers.push(await server.get(`${api}/runs/${id}${part}`, as('viewer')));
    }
    answers.push(
      await server.get(`${api}/runs/${id}/stream`, as('viewer')), await server.get(`${api}/runs`, as('viewer')),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toMatch(/hunter/);
    expect(answers[1]!.body.items[0].text).toBe('connecting with password=[redacted]');
    expect((await server.get(`${api}/runs/${id}/log`, as('operator'))).body.items[0].text).toContain('hunter2');
    expect(answers[0]!.body.tags).toEqual({ team: 'mail', apiToken: '[redacted]' });
    expect((await server.get(`${api}/runs?tag=apiToken:hunter3`, as('viewer'))).status).toBe(403);
  });
});

test('an operator who sees redacted texts cannot act on all runs that match a text', async () => {
  const ask = { action: 'retry', filter: { error: 'hunter2' }, dryRun: true };
  expect((await server.post(`${api}/bulk`, ask, asBlind)).status).toBe(403);
  expect((await server.post(`${api}/bulk`, { ...ask, filter: { type: ['leaky'] } }, asBlind)).status).toBe(200);
  expect((await server.post(`${api}/bulk`, ask, as('operator'))).body.count).toBeGreaterThan(0);
});

test('the fingerprint of a failure does not depend on its secrets', async () => {
  const { fingerprintOf } = await import('../../src/engine/inspect/fingerprint.ts');
  const of = (message: string): string | null => fingerprintOf({ type: 'a', error: { code: 'unknown', message } });
  expect(of('no: password=hunter2')).toBe(of('no: password=other'));
  expect(of(`${'x'.repeat(295)} //u:hunter2@h`)).toBe(of(`${'x'.repeat(295)} //u:other@h`));
  expect(of('no such file')).not.toBe(of('no such host'));
});
