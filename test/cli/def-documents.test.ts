// Definitions in files: export, diff, apply, clone, rename and switch them with the command, on both databases.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { migratedDatabase } from '../support/fresh-database.ts';
import { bySize } from '../support/size.ts';
import { Place } from './stint.ts';

const kinds = [
  { name: 'SQLite', open: async () => ({ url: 'sqlite:jobs.db' }) },
  { name: 'PostgreSQL', open: async () => ({ url: await migratedDatabase() }) },
];

const file = `
# Reports of the web team.
definitions:
  - name: report
    type: mail
    params: { to: all }
    schedules:
      - cron: 0 3 * * *
        zone: Europe/Berlin
    timeout: 5m
    tags: { team: web }
  - name: digest
    type: mail
    enabled: false
`;

const names = (out: string): string[] => (JSON.parse(out) as { items: { name: string }[] }).items.map(({ name }) => name);

describe.each(kinds)('on $name', ({ open }) => {
  test('a file is planned, applied once it is confirmed, and exported as it was', async () => {
    using place = new Place();
    const { url } = await open();
    const stint = async (...words: string[]) => place.stint('defs', ...words, '--store', url);
    await place.stint('migrate', '--store', url);
    writeFileSync(join(place.folder, 'defs.yaml'), file);
    const planned = await stint('diff', 'defs.yaml', '--exit-code');
    expect([planned.code, planned.out]).toEqual([3, expect.stringContaining('Plan: 2 to create, 0 to change, 0 to delete, 0 unchanged\n')]);
    const unconfirmed = await stint('apply', 'defs.yaml');
    expect([unconfirmed.code, unconfirmed.err]).toEqual([2, expect.stringContaining('confirm the plan with --yes')]);
    expect((await stint('apply', 'defs.yaml', '--dry-run')).code).toBe(0);
    expect(names((await stint('ls', '--json')).out)).toEqual([]);
    const applied = await stint('apply', 'defs.yaml', '--yes', '--by', 'ci', '--why', 'rollout 7');
    expect([applied.code, applied.out], applied.err).toEqual([0, expect.stringContaining('Applied 2 changes\n')]);
    expect(await stint('diff', 'defs.yaml', '--exit-code', '--prune')).toMatchObject({ code: 0 });
    const audit = await place.stint('audit', 'ls', '--store', url, '--json');
    expect((JSON.parse(audit.out) as { items: object[] }).items).toMatchObject([
      { action: 'define', def: 'digest', by: 'ci', why: 'rollout 7' }, { action: 'define', def: 'report', by: 'ci', why: 'rollout 7' },
    ]);
    for (const format of ['yaml', 'json']) {
      const { out } = await stint('export', '--format', format);
      writeFileSync(join(place.folder, `out.${format}`), out);
      expect(await stint('diff', `out.${format}`, '--exit-code', '--prune')).toMatchObject({ code: 0 });
    }
    expect((await stint('export', '--tag', 'team=web')).out).toBe(
      'definitions:\n  - name: report\n    type: mail\n    enabled: true\n    params:\n      to: all\n    schedules:\n      - cron: 0 3 * * *\n' +
      '        zone: Europe/Berlin\n    tags:\n      team: web\n    timeout: 5m\noverrides: []\n',
    );
    writeFileSync(join(place.folder, 'defs.yaml'), file.replace('timeout: 5m', 'timeout: 6m').replace(/ {2}- name: digest[^]*/, ''));
    const pruned = await stint('apply', 'defs.yaml', '--prune', '--yes');
    expect(pruned.out).toBe('~ report\n    timeout: "5m" → "6m"\n- digest\nPlan: 0 to create, 1 to change, 1 to delete, 0 unchanged\nApplied 2 changes\n');
    expect((await stint('clone', 'report', 'report 2', '--disabled')).code).toBe(0);
    expect((await stint('rename', 'report 2', 'report B', '--why', 'clearer')).code).toBe(0);
    expect(names((await stint('ls', '--json', '--status', 'disabled')).out)).toEqual(['report B']);
    expect((await stint('enable', '--match', 'report*', '--dry-run')).out).toBe('Would enable 1 definition\n  report B\n');
    expect((await stint('disable', '--match', 'report*', '--why', 'holidays')).out).toBe('Disabled 1 definition\n  report\n');
    expect(await place.stint('verify', '--store', url)).toMatchObject({ code: 0 });
  });
});

test('a wrong file is refused with its line, and nothing is changed', async () => {
  using place = new Place();
  await place.stint('migrate');
  for (const [line, wrong] of [
    [10, file.replace('timeout: 5m', 'timeout: 5 minutes')],
    [10, file.replace('timeout: 5m', 'timeuot: 5m')],
    [8, file.replace('0 3 * * *', '99 3 * * *')],
    [12, file.replace('name: digest', 'name: report')],
    [6, file.replace('type: mail', 'type: mail\n    type: mail')],
  ] as const) {
    writeFileSync(join(place.folder, 'defs.yaml'), wrong);
    const { code, err } = await place.stint('defs', 'apply', 'defs.yaml', '--yes');
    expect([code, /^stint: defs\.yaml:(\d+): /.exec(err)?.[1]], err).toEqual([2, String(line)]);
  }
  expect((await place.stint('defs', 'apply', 'none.yaml', '--yes')).err).toContain('cannot read none.yaml: ENOENT');
  expect(names((await place.stint('defs', 'ls', '--json')).out)).toEqual([]);
});

test('kill -9 while 300 definitions are applied leaves all or none', async () => {
  using place = new Place();
  await place.stint('migrate');
  const definitions = Array.from({ length: 300 }, (_, n) => ({ name: `def ${n}`, type: 'mail', schedules: [{ every: '1h' }] }));
  writeFileSync(join(place.folder, 'defs.json'), JSON.stringify({ definitions }));
  for (const delayMs of bySize({ small: [0, 15, 40], ci: [0, 2, 5, 10, 15, 20, 30, 40, 60, 100] })) {
    const applying = place.start('defs', 'apply', 'defs.json', '--yes');
    await applying.says(/Plan: /);
    await sleep(delayMs);
    await applying.kill();
    const found = names((await place.stint('defs', 'ls', '--json')).out);
    expect([0, 300]).toContain(found.length);
    if (found.length > 0) break;
  }
  expect(await place.stint('verify')).toMatchObject({ code: 0 });
});
