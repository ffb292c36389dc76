// The sample session of seed 2: its requests are sent as written, and docs/bedrock.md shows the replies.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { both, minute, type BedrockWorld } from './world.ts';

/** As the seed has them. */
const seed = [
  'CreateJob\nname: foo\ndata: {"value":1}\nrepeat: finished, +1 minute',
  'GetJob\nname: foo',
  'UpdateJob\njobID: 1\ndata: {"value":2}',
  'QueryJob\njobID: 1',
  'FinishJob\njobID: 1\ndata: {"value":3}',
  'GetJob\nname: foo',
  'Query\nquery: select * from jobs;',
  'GetJob\nname: foo',
];

interface Exchange {
  readonly request: string;
  /** As it comes over the wire. */
  readonly response: string;
  readonly isLater: boolean;
}

/** The session of the documentation, request by request. */
function sessionOf(text: string): Exchange[] {
  const blocks = [...text.matchAll(/^```session( after a minute)?\n([^]*?)^```$/gm)];
  return blocks.flatMap(([, later, block = '']) =>
    exchangesOf(block).map((exchange, index) => ({ ...exchange, isLater: later !== undefined && index === 0 })),
  );
}

function exchangesOf(block: string): Omit<Exchange, 'isLater'>[] {
  const found: Omit<Exchange, 'isLater'>[] = [];
  const shape = /^([A-Z][^]*?)\n\n(\d{3} [^\n]+\n(?:[^\n]+\n)*?Content-Length: (\d+)\n)\n/;
  for (let rest = block; rest.trim() !== ''; ) {
    const [whole = '', request = '', head = '', length = '0'] = shape.exec(rest) ?? [];
    expect(whole, `a request and its answer in ${rest}`).not.toBe('');
    const body = rest.slice(whole.length, whole.length + Number(length));
    found.push({ request, response: `${head.replaceAll('\n', '\r\n')}\r\n${body}` });
    rest = rest.slice(whole.length + Number(length)).replace(/^\n+/, '');
  }
  return found;
}

const session = sessionOf(readFileSync(new URL('../../docs/bedrock.md', import.meta.url), 'utf8'));

async function replay(world: BedrockWorld, { request, isLater }: Exchange): Promise<string> {
  if (isLater) await world.advance(minute);
  world.client.send(`${request}\n\n`);
  return (await world.client.answer()).text;
}

for (const { name, test } of both) {
  test(`the sample session of Bedrock's documentation gives the documented replies, on ${name}`, async ({ world }) => {
    expect(session.map(({ request }) => request)).toEqual(seed);
    for (const exchange of session) {
      expect(await replay(world, exchange)).toBe(exchange.response);
    }
  });
}

/** What the seed itself shows; today's answers have more keys, and the headers of its own time are gone. */
const shown: readonly (readonly [number, string, object])[] = [
  [0, '200 OK', { jobID: 1 }],
  [1, '200 OK', { data: { value: 1 }, jobID: 1, name: 'foo' }],
  [2, '200 OK', {}],
  [3, '200 OK', { data: { value: 2 }, jobID: 1, name: 'foo', state: 'RUNNING' }],
  [4, '200 OK', {}],
  [5, '404 No job found', {}],
  [7, '200 OK', { data: { value: 3 }, jobID: 1, name: 'foo' }],
];

both[0].test('the sample session covers all of the documentation', () => {
  for (const [index, status, told] of shown) {
    const [head = '', body = ''] = session[index]!.response.split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toBe(status);
    expect(JSON.parse(body || '{}')).toMatchObject(told);
  }
  expect(session[0]!.response).toBe('200 OK\r\nContent-Length: 11\r\n\r\n{"jobID":1}');
});
