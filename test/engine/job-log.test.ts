// The log of a job: any value becomes a line that is short enough, plain enough, and never an exception.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jobLog, logLineBytesMax, type LogLevel } from '../../src/engine/handler/job-log.ts';

function setUp() {
  const lines: [LogLevel, string][] = [];
  return { lines, log: jobLog((level, text) => lines.push([level, text])) };
}

/** The line that comes of a value. */
function lineOf(value: unknown): string {
  const { log, lines } = setUp();
  log.info(value as string);
  return lines[0]![1];
}

const bytes = (text: string): number => Buffer.byteLength(text);
// oxlint-disable-next-line no-control-regex -- these must not be there
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe('a line', () => {
  test('has the level of the method it was written with', () => {
    const { log, lines } = setUp();
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines).toEqual([
      ['debug', 'a'],
      ['info', 'b'],
      ['warn', 'c'],
      ['error', 'd'],
    ]);
  });

  test('is written also by a function that was taken from the log', () => {
    const { log, lines } = setUp();
    const { info, error } = log as Record<LogLevel, (text: string) => void>;
    info('a');
    error('b');
    expect(lines).toEqual([['info', 'a'], ['error', 'b']]);
  });

  test('of plain text stays as it is, line ends, tabs and other scripts included', () => {
    const text = 'one\n\ttwo – größer ✓ 漢字 👍🏽 שלום';
    expect(lineOf(text)).toBe(text);
  });

  test('has line ends of one kind', () => {
    expect(lineOf('a\r\nb')).toBe('a\nb');
  });
});

describe('length', () => {
  test('a line of 8 KiB stays whole, and a longer one is cut to 8 KiB and says so', () => {
    expect(lineOf('x'.repeat(8_192))).toBe('x'.repeat(8_192));
    const cut = lineOf('x'.repeat(8_193));
    expect(bytes(cut)).toBe(8_192);
    expect(cut).toMatch(/^x+… \(truncated, 8193 characters in total\)$/);
  });

  test.each(['ä', '漢', '👍'])('bytes count, and no %s is cut apart', (char) => {
    const cut = lineOf(char.repeat(9_000));
    expect(bytes(cut)).toBeGreaterThan(8_192 - 4);
    expect(bytes(cut)).toBeLessThanOrEqual(8_192);
    expect(cut).toMatch(new RegExp(`^(?:${char})+… \\(truncated, ${char.length * 9_000} characters in total\\)$`, 'u'));
  });

  test('control characters that grow when they are shown are counted as shown', () => {
    expect(bytes(lineOf('\u0001'.repeat(8_000)))).toBeLessThanOrEqual(8_192);
  });

  test('of a huge text only the beginning is processed, and a note says so', () => {
    expect(bytes(lineOf('\u001b['.repeat(10_000_000)))).toBeLessThanOrEqual(8_192);
    expect(lineOf(`${'\u001b[0m'.repeat(20_000)}the end`)).toBe('… (truncated, 80007 characters in total)');
  });
});

describe('control characters', () => {
  test.each([
    ['a colour', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a cursor movement', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a title', '\u001b]0;title\u0007text', 'text'],
    ['a link', '\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['a sequence of the eight-bit kind', '\u009b31mred', 'red'],
    ['an unfinished sequence', 'a\u001b[31', 'a␛[31'],
    ['a sequence that another one hides', '\u001b\u001b[0m[31mred', '␛[31mred'],
    ['other ones', '\u0000\u0007\b\u007f\u0085', '␀␇␈␡\\u0085'],
    ['a carriage return', '100 %\rdone', '100 %␍done'],
    ['half a surrogate pair', 'a\ud83db', 'a\ufffdb'],
  ])('%s is taken out or made visible', (_, text, expected) => {
    expect(lineOf(text)).toBe(expected);
  });

  test('whatever comes in, none comes out, and the line is short enough', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b[', '\u001b]', '\u009b', '\u0007', '\u001b', '\r', '31m', '\ud800', 'x'.repeat(3_000)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const line = lineOf(pieces.join(''));
        expect(line).not.toMatch(unwanted);
        expect(line.isWellFormed()).toBe(true);
        expect(bytes(line)).toBeLessThanOrEqual(logLineBytesMax);
      }),
    );
  });
});

describe('what is no text', () => {
  test('an error is logged with its stack and its cause', () => {
    const line = lineOf(new Error('outer', { cause: new Error('inner') }));
    expect(line).toContain('Error: outer\n    at ');
    expect(line).toContain('Error: inner');
  });

  test.each([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', 1.5, '1.5'],
    ['a BigInt', 5n, '5n'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a plain object', { a: [1, { b: 2 }] }, '{ a: [ 1, { b: 2 } ] }'],
    ['a function', Math.max, '[Function: max]'],
  ])('%s is shown', (_, value, expected) => {
    expect(lineOf(value)).toBe(expected);
  });

  test('a value that contains itself is shown', () => {
    const value: Record<string, unknown> = {};
    value.self = value;
    expect(lineOf(value)).toContain('[Circular');
  });

  test.each([
    ['has a throwing inspector', { [Symbol.for('nodejs.util.inspect.custom')]: refuse }],
    ['has throwing getters', { get a() { return refuse(); }, toString: refuse, toJSON: refuse }],
    ['is a proxy that throws at everything', new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse })],
    ['is an error with a throwing message', Object.defineProperty(new Error('x'), 'message', { get: refuse })],
    ['is an error with a throwing stack', Object.defineProperty(new Error('x'), 'stack', { get: refuse })],
    ['was cut off from all prototypes', Object.create(null)],
    ['is a proxy that was revoked', revoked()],
  ])('a value that %s throws nothing', (_, value) => {
    expect(lineOf(value)).not.toBe('');
  });

  test('escapes inside of values do not survive either', () => {
    expect(lineOf({ a: '\u001b[31mred' })).not.toMatch(unwanted);
    expect(lineOf({ [Symbol.for('nodejs.util.inspect.custom')]: () => '\u001b[31mred' })).toBe('red');
  });
});

function refuse(): never {
  throw new Error('not with me');
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
