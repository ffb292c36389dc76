// The logger of `stint serve` and `stint work`: an error keeps its message and stack at every level.
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { jsonLogger, terminalLogger } from '../../src/cli/server-logger.ts';

test.each(['info', 'warn', 'error'] as const)('a line of level %s contains the message and the stack of its error', (level) => {
  const lines: string[] = [];
  const logger = jsonLogger({ write: (line: string) => void lines.push(line) });

  logger[level]('the store is unreachable', { error: new Error('connect ECONNREFUSED'), id: 7 });

  expect(JSON.parse(lines[0]!)).toMatchObject({
    msg: 'the store is unreachable',
    id: 7,
    err: { type: 'Error', message: 'connect ECONNREFUSED', stack: expect.stringContaining('server-logger.test') as unknown },
  });
});

test('a line without an error has no field for one', () => {
  const lines: string[] = [];
  jsonLogger({ write: (line: string) => void lines.push(line) }).warn('slow', { ms: 5 });

  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'slow', ms: 5 });
  expect(lines[0]).not.toContain('err');
});

test('a terminal gets lines for people, with the stack of an error, and no control characters', () => {
  let text = '';
  const logger = terminalLogger({ write: (line: string) => void (text += line) });

  logger.info('ended runs are deleted 30d after their end', { type: 'a b', id: 7 });
  logger.error('cannot do it\u001b[2J', { error: new Error('outer', { cause: new Error('inner') }) });

  const [first, second, ...stack] = stripVTControlCharacters(text).split('\n');
  expect(first).toMatch(/^\d\d:\d\d:\d\d info {2}ended runs are deleted 30d after their end type="a b" id=7$/);
  expect(second).toMatch(/^\d\d:\d\d:\d\d error cannot do it\\u001b\[2J$/);
  expect(stack.join('\n')).toMatch(/^ {4}Error: outer\n[^]*caused by:\n {4}Error: inner\n[^]*server-logger\.test/);
});
