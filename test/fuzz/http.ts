// Requests of the HTTP API by its contract, from callers of every role; every answer must be in the contract, too.
import fc, { type Arbitrary } from 'fast-check';
import { z } from 'zod';
import { Problem, routes, type Route, type RouteName } from '../../src/http/contract.ts';
import { httpCodes } from '../../src/http/problems.ts';
import { refusalCodes } from '../../src/refusal.ts';
import { verify, violationText } from '../../src/verify.ts';
import { every, jobType } from '../../src/index.ts';
import { broken, echo, parts, patient, records, tokens, world, type World } from '../http/world.ts';
import { waitMs } from '../support/patience.ts';
import type { Door, Judged, OpenDoor } from './door.ts';
import { hostileText, mostly } from './hostile.ts';
import { perhapsDamaged, valuesOf, type ByName, type JsonSchema } from './schema-values.ts';

interface HttpInput {
  readonly route: RouteName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const ask = jobType('ask', { run: (context) => context.waitFor('who', { ask: 'Who?', timeout: '1h' }) });
const handed = jobType('handed', { run: (context) => context.handOff() });

const names = ['echo', 'broken', 'parts', 'ask', 'handed', 'nightly', 'other', 'third', 'nothing'];
const knownName = fc.constantFrom(...names);
const knownId = fc.integer({ min: 1, max: 300 });
/** Targets that nobody listens to. */
const targets = ['http://127.0.0.1:1/x', 'https://127.0.0.1:1/', 'smtp://127.0.0.1:1?from=a@b.example&to=c@d.example'];

const time = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2099-01-01T00:00:00Z');
const length = fc.constantFrom('5m', '1h', '2d');
/** Names and ids that exist, times that are short: what the server answers at once. */
const plausible: Readonly<Record<string, Arbitrary<unknown>>> = {
  id: knownId, run: knownId, job: knownId, before: knownId, after: knownId, parent: knownId, ids: fc.array(knownId, { maxLength: 5 }),
  name: knownName, type: knownName, types: fc.array(knownName, { maxLength: 3 }), def: knownName, definition: knownName, key: knownName,
  why: fc.constantFrom('once', 'tidy up'), unique: knownName, text: knownName, group: knownName, owner: knownName, renamed: knownName,
  webhook: fc.constantFrom(...targets), slack: fc.constantFrom(...targets), smtp: fc.constantFrom(...targets),
  tag: fc.constantFrom('a=b', 'c=d'), tags: fc.dictionary(fc.constantFrom('a', 'c'), fc.constantFrom('b', 'd')),
  due: time, from: time, to: time, since: time, until: time, at: time, runAt: time, cron: fc.constantFrom('0 0 1 1 *', '30 2 * * 7'),
  zone: fc.constantFrom('UTC', 'Europe/Berlin'), delay: length, timeout: length, every: length, wait: length, lease: length, retention: length,
  rate: fc.constantFrom('5/1m', '1000/1h'),
};

const short = fc.integer({ min: 0, max: 20 });
const byName: ByName = (property, schema) => {
  if (/^wait(Ms)?$/.test(property) && schema.type !== 'string') return short;
  const likely = plausible[property];
  const isLeaf = ['string', 'integer', 'array'].includes(String(schema.type));
  return likely && isLeaf ? mostly<unknown>(likely, hostileText) : undefined;
};

const schemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** Lone surrogates have no UTF-8: they become the replacement character. */
const encoded = (value: unknown): string => encodeURIComponent(shown(value).toWellFormed());

/** What a body needs beside its required properties. */
const needed: { readonly [Name in RouteName]?: Arbitrary<object> } = {
  createRun: fc.oneof(fc.record({ type: knownName }), fc.record({ def: knownName })),
};

function inputsOf(name: RouteName, route: Route): Arbitrary<HttpInput> {
  const part = (schema: z.ZodType | undefined): Arbitrary<unknown> =>
    (schema === undefined ? fc.constant({}) : valuesOf(schemaOf(schema), byName));
  const query = perhapsDamaged(part(route.query)) as Arbitrary<Record<string, unknown>>;
  const whole = fc.tuple(needed[name] ?? fc.constant({}), part(route.body)).map(([least, given]) => ({ ...least, ...(given as object) }));
  const body = route.body === undefined ? fc.constant(undefined) : perhapsDamaged(whole);
  const rest = fc.record({ caller: callers, media: medias, cut: fc.nat(30), raw: hostileText });
  return fc.tuple(part(route.params) as Arbitrary<Record<string, unknown>>, query, body, rest).map(([params, asked, sent, how]) => {
    const text = sent === undefined ? undefined : JSON.stringify(sent);
    return {
      route: name,
      path: pathOf(route.path, params) + queryOf(asked),
      headers: { ...how.caller, ...(text === undefined ? {} : { 'content-type': how.media }) },
      body: how.cut === 0 ? text?.slice(0, -1) : how.cut === 1 && text !== undefined ? how.raw : text,
    };
  });
}

const callers = fc.oneof(
  { weight: 8, arbitrary: fc.constant(tokens.admin) },
  { weight: 4, arbitrary: fc.constantFrom(...Object.values(tokens)) },
).map(({ token }) => ({ authorization: `Bearer ${token}` }));
const medias = fc.oneof(
  { weight: 20, arbitrary: fc.constant('application/json') },
  { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/json; charset=utf-16', '*/*') },
);

const pathOf = (path: string, params: Record<string, unknown>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encoded(params[name] ?? 'nothing'));

function queryOf(query: unknown): string {
  if (typeof query !== 'object' || query === null) return `?${encoded(query)}`;
  const fields = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${encoded(name)}=${encoded(one)}`));
  return fields.length === 0 ? '' : `?${fields.join('&')}`;
}

/** It stops the engine that answers, or its work: nothing would be left to fuzz. */
const isLeftOut = (name: string): boolean => /drain/i.test(name);

const inputs = fc.oneof(...(Object.entries(routes) as [RouteName, Route][])
  .filter(([name]) => !isLeftOut(name))
  .map(([name, route]) => inputsOf(name, route)));

const codes: ReadonlySet<string> = new Set([...Object.keys(refusalCodes), ...Object.keys(httpCodes)]);

export function judge(route: Route, status: number, media: string, text: string): string | null {
  if (status >= 500) return 'the server failed';
  if (status >= 400) return judgeProblem(media, text);
  if (status === 204 || route.as !== undefined) return null;
  const parsed = route.answer.safeParse(JSON.parse(text));
  return parsed.success ? null : `the answer is not in the contract: ${z.prettifyError(parsed.error)}`;
}

function judgeProblem(media: string, text: string): string | null {
  if (!media.includes('application/problem+json')) return `a refusal as ${media}`;
  const parsed = Problem.safeParse(JSON.parse(text));
  if (!parsed.success) return 'a refusal without the fields of a problem';
  return codes.has(parsed.data.code) ? null : `the unknown code ${parsed.data.code}`;
}

class HttpDoor implements OpenDoor<HttpInput> {
  readonly inputs = inputs;
  readonly #world: World;

  constructor(opened: World) {
    this.#world = opened;
  }

  async send({ route: name, path, headers, body }: HttpInput): Promise<Judged> {
    const route: Route = routes[name];
    const leave = new AbortController();
    const answer = await fetch(this.#world.url + path, {
      method: route.method.toUpperCase(), headers, ...(body === undefined ? {} : { body: body.toWellFormed() }),
      signal: AbortSignal.any([leave.signal, AbortSignal.timeout(waitMs)]), redirect: 'manual',
    });
    const media = answer.headers.get('content-type') ?? '';
    if (media.includes('text/event-stream')) {
      leave.abort();
      return { answer: 'stream', wrong: null };
    }
    const text = await answer.text();
    const wrong = judge(route, answer.status, media, text);
    return { answer: String(answer.status), wrong: wrong === null ? null : `${wrong} (${answer.status} ${text.slice(0, 600)})` };
  }

  async check(): Promise<readonly string[]> {
    const { status } = await this.#world.get('/health');
    const found: string[] = status === 200 ? [] : [`/health answers ${status}`];
    for await (const violation of verify(this.#world.engine.jobs.store)) found.push(violationText(violation));
    return found;
  }

  close(): Promise<void> {
    return this.#world.close();
  }
}

/** Something of each kind, for the requests to find. */
async function fill({ engine }: World): Promise<void> {
  for (const type of [echo, broken, parts, ask, handed]) await engine.createJobRuns(type, Array.from({ length: 15 }, () => ({})));
  for (const name of ['other', 'third']) {
    await engine.define(name, 'echo', { schedules: [every('1h')] });
    await engine.defineLimit(name, { concurrency: 2 });
    await engine.defineAlert(name, { when: 'failed', to: { webhook: targets[0]! }, types: ['broken'] });
  }
  await engine.createNamedFlow({ runs: [{ name: 'a', type: 'echo' }, { name: 'b', type: 'echo', after: ['a'] }] });
}

export const http: Door<HttpInput> = {
  name: 'http',
  async open(store) {
    const opened = await world({ store, access: { tokens: records }, engine: { types: [echo, broken, patient, parts, ask, handed] } });
    await fill(opened);
    return new HttpDoor(opened);
  },
};
