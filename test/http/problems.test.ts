// Problems: every refusal has a status and a body; redaction of payloads.
import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/http/contract.ts';
import {
  HttpRefusal, httpCodes, problemOfFault, problemOfHttp, problemOfRefusal, statusOf, type HttpCode,
} from '../../src/http/problems.ts';
import { redact, redactText } from '../../src/http/access/redact.ts';
import { Refusal, refusalCodes, type RefusalCode } from '../../src/refusal.ts';

const codes = Object.keys(refusalCodes) as RefusalCode[];

describe('refusals as problems', () => {
  test.each(codes)('%s has a status', (code) => {
    expect(statusOf(code)).toSatisfy((status: number) => status >= 400 && status < 600);
  });

  test.each(codes)('%s has a problem body', (code) => {
    const problem = problemOfRefusal(new Refusal(code, 'a sentence', { id: 1 }));
    expect(Problem.parse(problem)).toEqual(problem);
    expect(problem).toMatchObject({ code, detail: 'a sentence', title: refusalCodes[code], about: { id: 1 } });
  });

  test.each(Object.keys(httpCodes) as HttpCode[])('%s of HTTP has a problem body', (code) => {
    const problem = problemOfHttp(new HttpRefusal(code, 'a sentence'));
    expect(Problem.parse(problem)).toEqual(problem);
  });

  test('an unexpected error reveals only its trace', () => {
    expect(problemOfFault('abc')).toMatchObject({ status: 500, code: 'internal', trace: 'abc' });
  });
});

describe('redaction', () => {
  test.each([
    ['password=hunter2 was wrong', 'password=[redacted] was wrong'],
    ['Authorization: Bearer abcdef123456', 'Authorization: Bearer [redacted]'],
    ['cannot reach postgres://ann:hunter2@db/x', 'cannot reach postgres://ann:[redacted]@db/x'],
    ['{"api_key":"hunter2"}', '{"api_key":[redacted]}'],
    ['a token ring is a network', 'a token ring is a network'],
  ])('turns %j into %j', (text, shown) => {
    expect(redactText(text, 'redacted')).toBe(shown);
    expect(redactText(text, 'full')).toBe(text);
  });

  test('covers nested values and stops at a maximum depth', () => {
    let deep: unknown = { secret: 'canary' };
    for (let level = 0; level < 40; level++) deep = [deep];
    expect(JSON.stringify(redact(deep, 'redacted'))).not.toContain('canary');
    for (let level = 0; level < 40; level++) deep = [deep];
    expect(JSON.stringify(redact(deep, 'redacted'))).not.toContain('canary');
  });
});
