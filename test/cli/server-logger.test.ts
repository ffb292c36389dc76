// The logger of `stint serve` and `stint work`: an error keeps its message and stack at every level.
import { expect, test } from 'vitest';
import { serverLogger } from '../../src/cli/engine-options.ts';

test.each(['info', 'warn', 'error'] as const)('a line of level %s contains the message and the stack of its error', (level) => {
  const lines: string[] = [];
  const logger = serverLogger({ write: (line: string) => void lines.push(line) });

  logger[level]('the store is unreachable', { error: new Error('connect ECONNREFUSED'), id: 7 });

  expect(JSON.parse(lines[0]!)).toMatchObject({
    msg: 'the store is unreachable',
    id: 7,
    err: { type: 'Error', message: 'connect ECONNREFUSED', stack: expect.stringContaining('server-logger.test') as unknown },
  });
});

test('a line without an error has no field for one', () => {
  const lines: string[] = [];
  serverLogger({ write: (line: string) => void lines.push(line) }).warn('slow', { ms: 5 });

  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'slow', ms: 5 });
  expect(lines[0]).not.toContain('err');
});
