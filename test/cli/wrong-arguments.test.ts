// Wrong arguments of the command line: one sentence that says what to do, exit code 2, no stack, and nothing is changed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Place } from './stint.ts';

const wrong: readonly (readonly [sentence: RegExp, ...words: string[]])[] = [
  [/^unknown command 'odd'/, 'odd'],
  [/^missing required argument 'id'/, 'runs', 'show'],
  [/^unknown option '--\\u001b\[31m'/, 'runs', 'ls', '--\u001b[31m'],
  [/^required option '--role <role>' not specified/, 'tokens', 'create', 'ann'],
  [/^nothing to change: use --due/, 'runs', 'edit', '1'],
  [/^use only one of --tag and --clear-tags/, 'runs', 'edit', '1', '--tag', 'a=b', '--clear-tags'],
  [/^the tag "a" is given twice/, 'runs', 'create', 'mail', '--tag', 'a=b', 'a=c'],
  [/^--input: .*JSON/, 'runs', 'create', 'mail', '--input', '{'],
  [/^nothing to change: give an option/, 'defs', 'edit', 'nightly'],
  [/^cannot take attempts in/, 'defs', 'create', 'nightly', '--type', 'mail', '--attempts', '0'],
  [/^--zone is the time zone of --cron/, 'schedule', 'preview', '--every', '1h', '--zone', 'Mars/Base'],
  [/^cannot write the backup to ""/, 'backup', ''],
  [/^cannot write the backup to "missing\/copy\.db"/, 'backup', 'missing/copy.db'],
  [/^cannot read the token file \.: EISDIR/, 'tokens', 'ls', '--file', '.'],
  [/^--expires must be longer than zero/, 'tokens', 'create', 'ann', '--role', 'viewer', '--expires', '0s'],
  [/^the store URL names no file/, 'migrate', '--store', 'sqlite:'],
  [/^the instance must be a text/, 'work', '--instance', ''],
  [/^invalid address "nowhere" for --http/, 'serve', '--http', 'nowhere', '--store', 'sqlite:unopened.db'],
  [/stint: cannot listen on 0\.0\.0\.0: without tokens, anybody/, 'serve', '--http', '0.0.0.0:0', '--bedrock', 'off', '--insecure'],
  [/^--metric-definitions-max must be a whole/, 'serve', '--http', 'off', '--bedrock', 'off', '--metric-definitions-max', '-1'],
  [/^--producer-priority-max must be a whole/, 'serve', '--http', 'off', '--bedrock', 'off', '--producer-priority-max', 'x'],
  [/^--operator-priority-max must be a whole/, 'serve', '--http', 'off', '--bedrock', 'off', '--operator-priority-max', '1.5'],
];

test('each wrong call is refused in one sentence, with exit code 2', async () => {
  using place = new Place();
  await place.stint('migrate');
  await place.stint('runs', 'create', 'mail');
  const ended = await Promise.all(wrong.map(([, ...words]) => place.stint(...words)));
  ended.forEach(({ code, err }, index) => {
    const [sentence, ...words] = wrong[index]!;
    expect([words, code]).toEqual([words, 2]);
    expect(err.replace(/^stint: /, '')).toMatch(sentence);
    expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  });
  expect(existsSync(join(place.folder, 'unopened.db'))).toBe(false);
  expect(JSON.parse((await place.stint('runs', 'ls', '--json')).out).items).toHaveLength(1);
});
