// Injection: SQL, patterns and markup in filters and fields stay plain text, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migratedDatabase } from '../support/fresh-database.ts';
import { bySize } from '../support/size.ts';
import { api, world, type World } from './world.ts';

const corpus = [
  `' OR '1'='1`,
  `' OR 1=1 --`,
  `"; DROP TABLE job; --`,
  `'; DELETE FROM stint.ended; --`,
  `') UNION SELECT 1,2,3 --`,
  `1; ATTACH 'x' AS y`,
  `%`,
  `_`,
  `\\`,
  `\\'`,
  `%'`,
  `$1`,
  `?1`,
  `:name`,
  `\${7*7}`,
  `{{7*7}}`,
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `javascript:alert(1)`,
  `\u2028`,
  `\u202e`,
  `\ufeff`,
  `é`,
  `😀`,
  `..\\..\\etc\\passwd`,
  `../../etc/passwd`,
  `\r\nSet-Cookie: a=b`,
  `__proto__`,
  `constructor`,
  `toString`,
  `NaN`,
  `-1`,
  `1e999`,
  `[`,
  `[[]`,
  `[^`,
  `*`.repeat(8),
  `${'a*'.repeat(20)}b`,
  `(a+)+$`,
  `null`,
  `true`,
  `{"a":1}`,
];

const filters: readonly ((text: string) => string)[] = [
  (text) => `type=${text}`,
  (text) => `def=${text}`,
  (text) => `tag=${text}`,
  (text) => `tag=a:${text}`,
  (text) => `q=${text}`,
  (text) => `error=${text}`,
  (text) => `payload=${text}`,
  (text) => `payload=a.b:${text}`,
  (text) => `payload=${text}:1`,
  (text) => `state=${text}`,
  (text) => `kind=${text}`,
  (text) => `from=${text}`,
  (text) => `before=${text}`,
  (text) => `dueBefore=${text}`,
  (text) => `after=${text}`,
  (text) => `limit=${text}`,
  (text) => `order=${text}`,
  (text) => `parent=${text}`,
  (text) => `${text}=1`,
];

describe.each([
  ['SQLite', async (): Promise<string | undefined> => undefined],
  ['PostgreSQL', migratedDatabase],
] as const)('on %s', (_, database) => {
  let server: World;
  let plain: number;
  beforeAll(async () => {
    const store = await database();
    server = await world({ isIdle: true, ...(store === undefined ? {} : { store }) });
    plain = (await server.post(`${api}/runs`, { type: 'plain', input: { a: { b: 1 } } })).body.id as number;
  });
  afterAll(() => server.close());

  test.each(corpus)('%j in a filter matches literally', async (text) => {
    for (const [index, filter] of filters.entries()) {
      const query = filter(encodeURIComponent(text));
      // In npm test each filter on one path, in the proof on both.
      const paths = ['/runs', '/runs/count'];
      for (const path of bySize({ small: [paths[(index + text.length) % 2]!], ci: paths })) {
        const { status, body } = await server.get(`${api}${path}?${query}`);
        expect([query, status < 500]).toEqual([query, true]);
        if (status >= 400) expect(body.code).toMatch(/^[a-z.]+$/);
      }
    }
    expect((await server.get(`${api}/runs/${plain}`)).body.type).toBe('plain');
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  test.each(corpus)('%j in a tag and an input is returned unchanged and can be found', async (text) => {
    const tags = { text, where: 'corpus' };
    const created = await server.post(`${api}/runs`, { type: 'plain', input: { text }, tags });
    if (created.status !== 201) {
      // What no database can keep as a name is refused, with a reason.
      expect([created.status, created.body.code]).toEqual([400, expect.stringMatching(/^malformed/)]);
      return;
    }
    const { id } = created.body as { id: number };
    const { body } = await server.get(`${api}/runs/${id}`);
    expect([body.input, body.tags]).toEqual([{ text }, tags]);
    const found = await server.get(`${api}/runs?tag=${encodeURIComponent(`text:${text}`)}`);
    expect(found.body.items.map((run: { id: number }) => run.id)).toEqual([id]);
  });

  test('keys such as __proto__ are refused or stored as plain data', async () => {
    const raw = '{"type":"plain","input":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
    const response = await fetch(`${server.url}${api}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: raw,
    });
    expect(response.status).toBeLessThan(500);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
