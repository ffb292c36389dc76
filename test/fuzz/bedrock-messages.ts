// Messages of Bedrock's protocol by its grammar, some of them damaged, in the pieces in which a connection sends them.
import fc, { type Arbitrary } from 'fast-check';
import { commands } from '../../src/bedrock/commands.ts';
import { hostileText, mostly } from './hostile.ts';

export interface BedrockInput {
  /** The bytes of a connection, in the pieces in which they are sent. */
  readonly pieces: readonly Buffer[];
  /** How many answers there must be; null: a message is damaged. */
  readonly answers: number | null;
}

interface Message {
  readonly bytes: Buffer;
  readonly isDamaged: boolean;
  /** Whether it makes the server close the connection after the answer. */
  readonly isLast: boolean;
}

const oddJson = fc.oneof(fc.constantFrom('[]', 'null', '{"a":', ''), fc.json());
const json = mostly(fc.constantFrom('{}', '{"a":1}', '{"mockRequest":true}'), oddJson);
const id = mostly(fc.integer({ min: 1, max: 200 }).map(String), hostileText);
const text = mostly(fc.constantFrom('a', 'b', 'a/b', 'www-prod/mail', '*', 'a*', 'a,b', 'MANUAL/x'), hostileText);
const time = mostly(fc.constantFrom('2026-01-01 00:00:00', '2099-12-31 23:59:59'), hostileText);
const number = mostly(fc.constantFrom('0', '1', '500', '1000'), hostileText);
const repeat = mostly(fc.constantFrom('SCHEDULED, +1 HOUR', 'FINISHED, +1 DAY, START OF MONTH', 'HOURLY'), hostileText);
const newJob = fc.record({ name: text, data: fc.jsonValue(), repeat, unique: fc.boolean() });
const jobs = mostly(fc.array(newJob, { maxLength: 4 }).map((list) => JSON.stringify(list)), json);
const queries = fc.constantFrom(
  'SELECT 1;', 'SELECT * FROM jobs', 'SELECT COUNT(*) FROM jobs WHERE name GLOB "a*";', 'DROP TABLE jobs;', ';',
);

/** The headers that commands read, in the spelling of Bedrock's documentation. */
const headers: Readonly<Record<string, Arbitrary<string>>> = {
  name: text,
  data: json,
  jobs,
  jobID: id,
  jobIDs: fc.array(id, { maxLength: 4 }).map((ids) => ids.join(',')),
  parentJobID: id,
  repeat,
  retryAfter: mostly(fc.constantFrom('+1 MINUTE', '+10 SECONDS'), hostileText),
  firstRun: time,
  nextRun: time,
  jobPriority: number,
  priority: number,
  numResults: number,
  delay: number,
  ignoreRepeat: number,
  unique: number,
  overwrite: number,
  mergeData: number,
  requestID: text,
  writeConsistency: text,
  Timeout: mostly(fc.constant('60000'), fc.constantFrom('1', '20', '0', '-1', 'x')),
  Connection: fc.constantFrom('wait', '', '', '', '', '', 'forget', 'close'),
  query: queries,
  format: fc.constantFrom('json', 'csv', ''),
};

const verbs = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...Object.keys(commands)) },
  { weight: 1, arbitrary: fc.constantFrom('createjob', 'GETJOB', 'Nothing', 'Query: SELECT 1;', 'Query:', 'CreateJob x') },
);

const escapes: Readonly<Record<string, string>> = { '\0': '', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const escaped = (value: string): string => value.toWellFormed().replaceAll(/[\0\\\n\r\t]/g, (character) => escapes[character]!);

/** A message that the grammar allows: it has one answer. */
const sound: Arbitrary<Message> = fc
  .tuple(verbs, fc.record(headers, { requiredKeys: [] }), fc.constantFrom('\r\n', '\n'))
  .map(([verb, fields, newline]) => {
    const wait = fields['Connection'] === 'wait' ? { Timeout: '20' } : {};
    const lines = Object.entries({ ...fields, ...wait }).map(([name, value]) => `${name}: ${escaped(value)}`);
    return {
      bytes: Buffer.from([verb, ...lines, '', ''].join(newline)),
      isDamaged: false,
      isLast: ['close', 'forget'].includes(fields['Connection'] ?? ''),
    };
  });

type Damage = (bytes: Buffer) => Buffer;

const afterFirstLine = (more: string): Damage => (bytes) => {
  const end = bytes.indexOf('\n') + 1;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(more), bytes.subarray(end)]);
};

const cut = fc.nat().map((at): Damage => (bytes) => bytes.subarray(0, at % bytes.length));
const noise = fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 })).map(([at, more]): Damage => (bytes) => {
  const place = at % bytes.length;
  return Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)]);
});
const flipped = fc.tuple(fc.nat(), fc.nat(255)).map(([at, value]): Damage => (bytes) => {
  const changed = Buffer.from(bytes);
  changed[at % bytes.length] = value;
  return changed;
});
const wrongLength = fc.constantFrom('5', '-1', '99999999999', 'x', '0\r\nContent-Length: 1')
  .map((length) => afterFirstLine(`Content-Length: ${length}\r\n`));
const manyLines = fc.nat(2_000).map((count) => afterFirstLine('a: b\r\n'.repeat(count)));

const damaged: Arbitrary<Message> = fc.tuple(sound, fc.oneof(cut, noise, flipped, wrongLength, manyLines))
  .map(([{ bytes }, damage]) => ({ bytes: damage(bytes), isDamaged: true, isLast: false }));

const message = fc.oneof({ weight: 4, arbitrary: sound }, { weight: 1, arbitrary: damaged });

export const bedrockInputs: Arbitrary<BedrockInput> = fc
  .tuple(fc.array(message, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(400), { maxLength: 4 }))
  .map(([messages, cuts]) => ({
    pieces: pieces(Buffer.concat(messages.map(({ bytes }) => bytes)), cuts),
    answers: messages.some(({ isDamaged }) => isDamaged) ? null : answersTo(messages),
  }));

function answersTo(messages: readonly Message[]): number {
  const last = messages.findIndex(({ isLast }) => isLast);
  return last === -1 ? messages.length : last + 1;
}

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.filter((place) => place < bytes.length).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end)).filter(({ length }) => length > 0);
}
