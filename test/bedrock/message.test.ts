// Messages: how bytes become requests, in any chunks, and which requests are refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeValue, unescapeValue } from '../../src/bedrock/escape.ts';
import {
  isHealthCheck, defaultLimits, MessageReader, writeResponse, type MessageLimits, type BedrockRequest,
} from '../../src/bedrock/message.ts';
import { UnreadableMessage } from '../../src/bedrock/unreadable.ts';
import { seededRandom } from '../../src/random.ts';
import { sampleSize } from '../support/size.ts';

/** Requests, or what the reader says instead. */
function read(
  text: string | Buffer,
  limits?: Partial<MessageLimits>,
  pieces = [Infinity],
): (BedrockRequest | string | null)[] {
  const reader = new MessageReader({ ...defaultLimits, ...limits });
  const bytes = Buffer.from(text);
  const found: (BedrockRequest | string | null)[] = [];
  let start = 0;
  try {
    for (const piece of [...pieces, Infinity]) {
      const end = Math.min(bytes.length, start + piece);
      // A copy, since the socket's own bytes are written over later.
      if (end > start) for (const request of reader.read(Buffer.from(bytes.subarray(start, end)))) found.push(request);
      start = end;
    }
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    found.push(error.status);
  }
  return found;
}

const one = (text: string | Buffer, limits?: Partial<MessageLimits>): BedrockRequest => {
  const found = read(text, limits);
  expect(found).toHaveLength(1);
  return found[0] as BedrockRequest;
};

const headersOf = (text: string): Record<string, string> => Object.fromEntries(one(text).headers);

describe('a request', () => {
  test('consists of a method line, headers and a blank line, with either line ending', () => {
    for (const text of ['GetJob\nname: foo\n\n', 'GetJob\r\nname: foo\r\n\r\n', 'GetJob\r\nname: foo\n\n']) {
      expect(one(text)).toEqual({ line: 'GetJob', verb: 'getjob', headers: new Map([['name', 'foo']]) });
    }
  });

  test('may mix line endings and follow blank lines', () => {
    expect(one('\r\n\n\r\nGetJob\nname: foo\n\r\n').verb).toBe('getjob');
  });

  test('has its verb before the first space, in any case', () => {
    expect(one('  CREATEJOB / HTTP/1.1  \n\n')).toMatchObject({ line: 'CREATEJOB / HTTP/1.1', verb: 'createjob' });
  });

  test('has case-insensitive header names and trimmed values, and the last duplicate wins', () => {
    expect(headersOf('X\nName:a\nNAME:   b c  \n Tab\t:1\n\n')).toEqual({ name: 'b c Tab\t:1' });
    expect(headersOf('X\njobID:7\ntab:\tx\t\n\n')).toEqual({ jobid: '7', tab: '\tx\t' });
  });

  test('has an empty value for a header without a colon', () => {
    expect(headersOf('X\nmockRequest\nname: a:b\n\n')).toEqual({ mockrequest: '', name: 'a:b' });
  });

  test('keeps continuation lines of a value unchanged', () => {
    expect(headersOf('X\ndata: {"a":1,\n  "b":\\n2}\n\ttab\n\n')).toEqual({ data: '{"a":1,  "b":\\n2}\ttab' });
  });

  test('has its body skipped, whatever it contains', () => {
    const inner = 'CreateJob\nname: stray\n\n';
    expect(read(`Ping\nContent-Length: ${inner.length}\n\n${inner}Status\n\n`)).toMatchObject(
      [{ verb: 'ping' }, { verb: 'status' }],
    );
  });

  test('may follow another one without a pause', () => {
    expect(read('A\n\nB\r\n\r\n\nC\nx: 1\n\n')).toMatchObject([{ verb: 'a' }, { verb: 'b' }, { verb: 'c' }]);
  });

  test('that is incomplete leaves the reader in the matching phase', () => {
    const reader = new MessageReader();
    const phases = ['Pi', 'ng\nContent-Length: 3\n', '\nab', 'c'].map((piece) => {
      const requests = [...reader.read(Buffer.from(piece))];
      return `${reader.phase} ${requests.length}`;
    });
    expect(phases).toEqual(['head 0', 'head 0', 'body 0', 'idle 1']);
  });
});

describe('backslash escapes', () => {
  test('are unescaped once', () => {
    expect(unescapeValue(String.raw`a\nb\rc\td\be\ff`)).toBe('a\nb\rc\td\be\ff');
    expect(unescapeValue(String.raw`{\"a\":\"x\\ny\"}`)).toBe(String.raw`{"a":"x\ny"}`);
    expect(unescapeValue(String.raw`\u00e9\u20ac\q\u12\\`)).toBe(String.raw`é€qu12` + '\\');
    expect(unescapeValue('\\')).toBe('\\');
    expect(unescapeValue('\\😀')).toBe('😀');
  });

  test('are written so that unescaping restores the value', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(escapeValue(text)).not.toMatch(/[\n\r\t]/);
      expect(unescapeValue(escapeValue(text))).toBe(text);
    }));
  });
});

describe('a response', () => {
  test('has sorted headers and ends with Content-Length in bytes', () => {
    const headers = { nodeName: 'x\ny', Connection: 'close', commitCount: '1' };
    expect(writeResponse({ status: '200 OK', headers, body: 'é' })).toBe(
      '200 OK\r\ncommitCount: 1\r\nConnection: close\r\nnodeName: x\\ny\r\nContent-Length: 2\r\n\r\né',
    );
    expect(writeResponse({ status: '404 No job found' })).toBe('404 No job found\r\nContent-Length: 0\r\n\r\n');
  });
});

describe('an unreadable request is refused', () => {
  const bad = '400 Bad Request';

  test.each([
    ['a carriage return on its own', 'GetJob\rname: x\n\n', bad],
    ['a NUL', 'GetJob\nname: a\0b\n\n', bad],
    ['a NUL in a line that is not whole yet', 'GetJob\0', bad],
    ['what is not UTF-8', Buffer.from([0x41, 0x0a, 0xff, 0x0a, 0x0a]), bad],
    ['Content-Length said twice', 'Ping\nContent-Length: 0\ncontent-length: 0\n\n', bad],
    ['Content-Length that is no number', 'Ping\nContent-Length: 1x\n\n', bad],
    ['Content-Length below zero', 'Ping\nContent-Length: -1\n\n', bad],
    ['Transfer-Encoding that is not chunked', 'Ping\nTransfer-Encoding: gzip\n\n', bad],
    ['a length beside chunks', 'Ping\nTransfer-Encoding: chunked\nContent-Length: 0\n\n0\n\n', bad],
    ['a chunk without a size', 'Ping\nTransfer-Encoding: chunked\n\nxyz\n', bad],
    ['a chunk that is longer than its size', 'Ping\nTransfer-Encoding: chunked\n\n1\nabc\n0\n\n', bad],
    ['a continuation of nothing', 'Ping\n x: 1\n\n', bad],
    ['a browser that posts', 'POST / HTTP/1.1\nContent-Type: text/plain\n\nCreateJob\nname: x\n\n', null],
    ['a browser that has not said all yet', 'POST /CreateJob HTTP/1.1\n', null],
    ['a browser that asks', 'GET /jobs HTTP/1.0\n\n', null],
    ['a method of its own from a browser', 'CreateJob / HTTP/1.1\nHost: localhost:8888\n\n', null],
    ['a page of another origin', 'CreateJob\nOrigin: http://evil.example\n\n', null],
  ])('%s', (_, text, status) => {
    expect(read(text)).toEqual([status]);
  });

  test('also with further requests after it', () => {
    expect(read('Ping\n\nPing\nTransfer-Encoding: gzip\n\nPing\n\n')).toMatchObject([{ verb: 'ping' }, bad]);
  });

  test('unless it is the HTTP health check of load balancers', () => {
    expect(one('GET /status/handlingCommands HTTP/1.1\r\nHost: x\r\n\r\n').line).toSatisfy(isHealthCheck);
  });
});

describe('the size limits', () => {
  const large = '413 Request too large';
  const limits: MessageLimits = { lineBytes: 20, headerBytes: 30, headerLines: 3, bodyBytes: 10 };
  const sizes = (size: number) => [size - 1, size, size + 1];
  const isTaken = (text: string): boolean => read(text, limits)[0] !== large;

  test.each(['\n', '\r\n'])('are exact to the byte, with line ending %j', (end) => {
    expect(sizes(20).map((size) => isTaken(`${'x'.repeat(size)}${end}${end}`))).toEqual([true, true, false]);
    expect(sizes(30).map((size) => isTaken(`X${end}a:${'b'.repeat(size - 2)}${end}${end}`))).toEqual(
      [true, true, false],
    );
    expect(sizes(15).map((size) => isTaken(`X${end}a:${'é'.repeat(size - 1)}${end}${end}`))).toEqual(
      [true, true, false],
    );
    expect(sizes(3).map((lines) => isTaken(`X${end}${`a${end}`.repeat(lines)}${end}`))).toEqual([true, true, false]);
    expect(sizes(10).map((size) => isTaken(`X${end}Content-Length:${size}${end}${end}${'b'.repeat(size)}`))).toEqual(
      [true, true, false],
    );
  });

  test('apply to the sum of all chunks, to a chunk before it arrives, and to its size line', () => {
    const limit = { ...limits, headerBytes: 100 };
    const head = 'X\nTransfer-Encoding: chunked\n\n';
    expect(read(`${head}5\nabcde\n5\nabcde\n0\n\n`, limit)).toMatchObject([{ verb: 'x' }]);
    for (const body of ['5\nabcde\n6\n', 'b\n', '7fffffff\n', `1;${'x'.repeat(1024)}`]) {
      expect(read(`${head}${body}`, limit)).toEqual([large]);
    }
    expect(read(`${head}0\n${'a: b\n'.repeat(65)}`, limit)).toEqual([large]);
  });

  test('have the values of the specification', () => {
    expect(defaultLimits).toEqual({ lineBytes: 4096, headerBytes: 4_194_304, headerLines: 1000, bodyBytes: 16_777_216 });
  });

  test('apply before the request is complete', () => {
    expect(read('x'.repeat(22), limits)).toEqual([large]);
    expect(read(`X\na:${'b'.repeat(80)}`, limits)).toEqual([large]);
  });

  test('allow a megabyte of data, also byte by byte', () => {
    const data = 'd'.repeat(1_048_576 - 6);
    const text = `X\ndata: ${data}\n\n`;
    expect(one(text).headers.get('data')).toHaveLength(data.length);
    const small = text.slice(0, 60_000) + '\n\n';
    expect(read(small, {}, Array<number>(small.length).fill(1))).toHaveLength(1);
  });
});

/** Frames of every kind, good ones and bad ones. */
const frames = [
  'CreateJob\nname: foo\ndata: {"value":1}\nrepeat: finished, +1 minute\n\n',
  'CreateJob / HTTP/1.1\r\nname: fo\\\\o é€😀\r\ndata: {"a":"x\\\\ny"}\r\nContent-Length: 0\r\n\r\n',
  'GetJob\r\nname: a, b,c*\r\nConnection: wait\r\ntimeout: 60000\r\n\r\n',
  '\r\n\nUpdateJob\njobID: 1\ndata: {"value":2,\n  "more":3}\n\n\r\nPing\r\n\r\nStatus\n\n',
  'Query\nquery: select * from jobs;\nContent-Length: 12\n\nabc\n\ndef\r\n\r\nPing\n\n',
  'Ping\n\nPOST / HTTP/1.1\r\nHost: x\r\n\r\nCreateJob\nname: x\n\n',
  'Ping\n\nPing\nContent-Length: x\n\nPing\n\n',
  'Ping\n\nPing\rPing\n\n',
  'GetJob\r\nname: x\r\nTransfer-Encoding: Chunked\r\n\r\n4;a=b\r\nPing\r\nA\r\n0123\n\n6789\r\n0\r\nT: 1\r\n\r\nPing\n\n',
  'Ping\nTransfer-Encoding: chunked\n\n0\n\nPing\nTransfer-Encoding: chunked\n\nx\n\n',
];

describe('a request in several chunks', () => {
  test('gives the same requests for every split into two', () => {
    for (const frame of frames) {
      const whole = read(frame);
      const length = Buffer.byteLength(frame);
      for (let cut = 1; cut < length; cut++) expect(read(frame, {}, [cut]), `${frame} cut at ${cut}`).toEqual(whole);
    }
  });

  test('gives the same requests byte by byte', () => {
    for (const frame of frames) expect(read(frame, {}, Array<number>(frame.length * 2).fill(1))).toEqual(read(frame));
  });

  test('gives the same result at the edge of every limit', () => {
    const limits: MessageLimits = { lineBytes: 8, headerBytes: 12, headerLines: 2, bodyBytes: 4 };
    for (let size = 1; size < 20; size++) {
      for (const end of ['\n', '\r\n']) {
        const texts = [
          `${'x'.repeat(size)}${end}${end}`,
          `X${end}a:${'b'.repeat(size)}${end}${end}`,
          `X${end}${`a${end}`.repeat(size)}${end}`,
          `X${end}Content-Length:${size}${end}${end}${'b'.repeat(size)}`,
        ];
        for (const text of texts) {
          for (let cut = 1; cut < text.length; cut++) expect(read(text, limits, [cut])).toEqual(read(text, limits));
        }
      }
    }
  });
});

test('100,000 broken frames are read or refused, with the same result in one chunk and in several', () => {
  const random = seededRandom(20_260_301);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
  const bits = [
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    ':',
    ' ',
    '\t',
    '\\',
    '\\u',
    '\0',
    '\xff',
    'Content-Length: 5\n',
    'é',
    '{',
    'HTTP/1.1',
    'Host: x\n',
  ];
  const broken = (): Buffer => {
    const bytes = [...Buffer.from(pick(frames))];
    for (let times = 0; times < 3; times++) {
      const place = Math.floor(random.next() * bytes.length);
      if (random.next() < 0.4) bytes.splice(place, 1 + Math.floor(random.next() * 4));
      else if (random.next() < 0.5) bytes[place] = Math.floor(random.next() * 256);
      else bytes.splice(place, 0, ...Buffer.from(pick(bits), 'latin1'));
    }
    return Buffer.from(bytes);
  };
  let requests = 0;
  let refused = 0;
  for (let n = sampleSize(100_000); n > 0; n--) {
    const frame = broken();
    const found = read(frame);
    const cut = read(frame, {}, [1 + Math.floor(random.next() * frame.length)]);
    if (JSON.stringify(found) !== JSON.stringify(cut)) expect(cut, frame.toString('latin1')).toEqual(found);
    const whole = found.filter((each) => typeof each === 'object' && each !== null).length;
    requests += whole;
    refused += found.length - whole;
  }
  expect(requests).toBeGreaterThan(sampleSize(50_000));
  expect(refused).toBeGreaterThan(sampleSize(20_000));
});
