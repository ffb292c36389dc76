// The fuzzing itself: wrong answers are found, right ones are not.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { routes } from '../../src/http/contract.ts';
import { judge as judgeAnswers, readAnswers } from './bedrock.ts';
import { judge as judgeCommand } from './cli.ts';
import type { OpenDoor } from './door.ts';
import { Campaign } from './fuzz.ts';
import { judge as judgeHttp } from './http.ts';
import { valuesOf, type JsonSchema } from './schema-values.ts';

const door = (isWrong: (input: number) => boolean, whole: readonly string[] = []): OpenDoor<number> => ({
  inputs: fc.nat(9),
  send: async (input) => ({ answer: `answer ${input}`, wrong: isWrong(input) ? 'it broke' : null }),
  check: async () => whole,
  close: async () => {},
});

test('a wrong answer, and a wrong state after a page of inputs, are findings with their seed', async () => {
  const campaign = new Campaign();
  await campaign.page(door((input) => input === 3, ['S1 is violated']), 7);
  expect(campaign.findings).toContain('seed 7: it broke\n  3');
  expect(campaign.findings.at(-1)).toBe('after seed 7: S1 is violated');
  expect(campaign.figures).toMatchObject({ inputs: 200, 'answer 4': expect.any(Number) as unknown });
});

test('an input whose answer takes too long each time is a finding, one whose answer took long once is none', async () => {
  let now = 0;
  const campaign = new Campaign(() => now);
  const hour = 3_600_000;
  let isFirst = true;
  const slow = { ...door(() => false), send: async (input: number) => {
    if (input === 3 || (input === 4 && isFirst)) now += hour;
    if (input === 4) isFirst = false;
    return { answer: 'answer', wrong: null };
  } };
  await campaign.page(slow, 7);
  expect(new Set(campaign.findings)).toEqual(new Set([`seed 7: each of 4 answers took ${hour} ms or more\n  3`]));
});

test('the same seed draws the same inputs', async () => {
  const drawn = async (): Promise<unknown> => {
    const campaign = new Campaign();
    await campaign.page(door(() => true), 7);
    return campaign.findings;
  };
  expect(await drawn()).toEqual(await drawn());
});

test('an answer over HTTP must be in the contract, and a refusal must have a known code', () => {
  const problem = (code: string): string => JSON.stringify({ type: 'urn:x', title: 't', status: 400, code, detail: 'd' });
  const json = 'application/problem+json';
  expect(judgeHttp(routes.listLimits, 200, 'application/json', '{"items":[]}')).toBeNull();
  expect(judgeHttp(routes.listLimits, 200, 'application/json', '{"items":[1]}')).toContain('not in the contract');
  expect(judgeHttp(routes.listLimits, 503, json, problem('unavailable.store'))).toBe('the server failed');
  expect(judgeHttp(routes.listLimits, 400, json, problem('malformed.name'))).toBeNull();
  expect(judgeHttp(routes.listLimits, 400, json, problem('malformed.odd'))).toBe('the unknown code malformed.odd');
  expect(judgeHttp(routes.listLimits, 400, 'text/plain', 'Bad Request')).toBe('a refusal as text/plain');
});

test('Bedrock must answer each sound message once, with a status that it can explain', () => {
  const answer = '200 OK\r\nContent-Length: 2\r\n\r\n{}';
  expect(readAnswers(Buffer.from(answer + answer))).toEqual({ answers: ['200 OK', '200 OK'], rest: '' });
  expect(readAnswers(Buffer.from(`${answer}200 OK\r\nContent-Length: 9\r\n\r\n{}`)).rest).toContain('200 OK');
  expect(judgeAnswers(['200 OK'], '', 1)).toBeNull();
  expect(judgeAnswers(['200 OK'], '', 2)).toBe('1 answers to 2 messages');
  expect(judgeAnswers([], '', null)).toBeNull();
  expect(judgeAnswers(['500 Unhandled Exception'], '', null)).toContain('500');
  expect(judgeAnswers(['200 OK'], 'more', null)).toContain('more');
});

test('a command must end with a known exit code, without a stack, and print JSON if asked', () => {
  const ended = { code: 0, out: '', err: '' };
  expect(judgeCommand(['runs', 'ls', '--json'], { ...ended, out: '{"items":[]}\n' })).toBeNull();
  expect(judgeCommand(['runs', 'ls', '--json'], { ...ended, out: '{"a":1}\n{"a":2}\n' })).toBeNull();
  expect(judgeCommand(['runs', 'ls', '--json'], { ...ended, out: 'no runs\n' })).toBe('no JSON');
  expect(judgeCommand(['runs', 'ls'], { ...ended, code: 1, err: 'stint: Error' })).toBe('exit code 1');
  expect(judgeCommand(['runs', 'ls'], { ...ended, code: 2, err: 'stint: Error: x\n    at a (b.ts:1:2)' })).toBe('a stack');
  expect(judgeCommand(['runs', 'show', 'undefined'], { ...ended, code: 2, err: 'stint: no run undefined' })).toBeNull();
  expect(judgeCommand(['runs', 'ls'], { ...ended, out: 'undefined' })).toContain('not meant');
});

test('most bodies that are drawn by a schema are valid', () => {
  const schema = z.strictObject({ name: z.enum(['a', 'b']), count: z.number().int().min(2).max(9).optional(), more: z.array(z.boolean()).optional() });
  const drawn = fc.sample(valuesOf(z.toJSONSchema(schema) as JsonSchema, () => undefined), { seed: 1, numRuns: 100 });
  expect(drawn.filter((value) => !schema.safeParse(value).success)).toEqual([]);
  expect(new Set(drawn.map((value) => Object.keys(value as object).length)).size).toBe(3);
});
