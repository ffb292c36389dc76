// Stored JSON: what is accepted, what is refused and where, and that no key reaches a prototype.
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { checkJsonText, defaultJsonLimits, jsonText, mergePatch, parseJson, parseFaithfully } from '../../src/model/json.ts';
import type { Json } from '../../src/model/json.ts';
import { isRefusal } from '../../src/refusal.ts';
import { sampleSize } from '../support/size.ts';

afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).not.toContain('polluted');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

function refusalOf(action: () => unknown): { code: string; message: string; [detail: string]: unknown } | null {
  try {
    action();
  } catch (error) {
    if (isRefusal(error)) return { code: error.code, message: error.message, ...error.detail };
    throw error;
  }
  return null;
}

const refusedAt = (action: () => unknown): unknown => {
  const refusal = refusalOf(action);
  return refusal === null ? 'taken' : [refusal.code, refusal['path']];
};

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
};

const withKey = (key: string, value: unknown): object =>
  Object.defineProperty({}, key, { value, enumerable: true, configurable: true, writable: true });

class Money {
  readonly cents = 5;
}

describe('a value of the user', () => {
  test.each([
    [undefined, 'null'],
    [null, 'null'],
    ['é😀', '"é😀"'],
    ['\ud800', '"\\ud800"'],
    [-0, '0'],
    [{ b: 1, a: [true, null] }, '{"b":1,"a":[true,null]}'],
    [{ gone: undefined, list: [undefined] }, '{"list":[null]}'],
    [Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [{ toJSON: () => undefined }, 'null'],
    [[new URL('http://a.b/')], '["http://a.b/"]'],
    [Buffer.from('a'), '{"type":"Buffer","data":[97]}'],
    [runInNewContext('({ a: [1] })'), '{"a":[1]}'],
  ])('%o becomes its text', (value, text) => {
    expect(jsonText(value)).toBe(text);
  });

  const cyclic: { a: { b: unknown[] } } = { a: { b: [] } };
  cyclic.a.b.push(0, cyclic);

  test.each([
    ['NaN', { a: [1, NaN] }, '$.a[1]'],
    ['Infinity', { 'a b': -Infinity }, '$["a b"]'],
    ['a BigInt', [[1n]], '$[0][0]'],
    ['a function', () => 1, '$'],
    ['a symbol', Symbol('a'), '$'],
    ['a function further in', { a: { run: () => 1 } }, '$.a.run'],
    ['a symbol further in', [Symbol('a')], '$[0]'],
    ['a circle', cyclic, '$.a.b[1]'],
    ['a Map', { m: new Map([[1, 2]]) }, '$.m'],
    ['a class instance', [new Money()], '$[0]'],
    ['a boxed number', Object(5), '$'],
    ['bytes', new Uint8Array(3), '$'],
    ['an invalid Date', { at: new Date(NaN) }, '$.at'],
    ['a Map given by toJSON', { toJSON: () => new Map() }, '$'],
    ['a key __proto__', { a: withKey('__proto__', { polluted: 1 }) }, '$.a.__proto__'],
    ['a key constructor', [{ constructor: { prototype: { polluted: 1 } } }], '$[0].constructor'],
    ['a key prototype', { prototype: 1 }, '$.prototype'],
    ['a key constructor with nothing in it', { constructor: undefined }, '$.constructor'],
  ])('%s is refused with its path', (_, value, path) => {
    expect(refusedAt(() => jsonText(value))).toEqual(['malformed.json', path]);
  });

  test('a circle is called one', () => {
    expect(refusalOf(() => jsonText(cyclic))?.message).toContain('it contains itself, at $.a.b[1]');
  });

  test('what throws while it is read is refused, with what it threw', () => {
    const trap = {
      ok: 1,
      get bad(): never {
        throw new Error('no access');
      },
    };
    expect(refusalOf(() => jsonText(trap))).toMatchObject({
      code: 'malformed.json',
      message: expect.stringContaining('no access') as string,
    });
  });

  test('64 levels are taken, and 65 refused', () => {
    expect(jsonText(nested(64))).toBe(JSON.stringify(nested(64)));
    expect(refusalOf(() => jsonText(nested(65)))?.message).toContain('more than 64 levels deep');
  });

  test('a value too deep for the stack is refused like any other', () => {
    expect(refusalOf(() => jsonText(nested(1_000_000)))?.code).toBe('malformed.json');
  });

  test('what toJSON gives without end is refused', () => {
    const endless = { toJSON: (): unknown => ({ next: { ...endless } }) };
    expect(refusalOf(() => jsonText(endless))?.code).toBe('malformed.json');
  });

  test('a text of exactly the most bytes is taken, one byte more is refused', () => {
    const most = defaultJsonLimits.bytes - 2;
    expect(jsonText('a'.repeat(most))).toHaveLength(defaultJsonLimits.bytes);
    expect(refusedAt(() => jsonText('a'.repeat(most + 1)))).toEqual(['malformed.json', '$']);
    expect(refusedAt(() => jsonText('é'.repeat(most / 2)))).toBe('taken');
    expect(refusedAt(() => jsonText('é'.repeat(most / 2) + 'a'))).toEqual(['malformed.json', '$']);
  });

  test('a small value that holds itself many times over is refused before it is written out', () => {
    let value: unknown = 'x';
    for (let level = 0; level < 60; level++) value = [value, value, value, value];
    expect(refusalOf(() => jsonText(value))?.message).toContain('longer than');
  });

  test('a list of nothing but holes is refused before it is written out', () => {
    let reads = 0;
    const holes: unknown[] = [];
    holes.length = 50_000_000;
    const watched = new Proxy(holes, { get: (target, key) => (reads++, Reflect.get(target, key) as unknown) });
    expect(refusalOf(() => jsonText(watched))?.message).toContain('longer than');
    expect(reads).toBeLessThan(1_100_000);
    holes.length = 2 ** 32 - 1;
    expect(refusalOf(() => jsonText(holes))?.code).toBe('malformed.json');
  });

  test('the same object twice is no circle', () => {
    const shared = { a: [1] };
    expect(jsonText({ x: shared, y: [shared, shared] })).toBe('{"x":{"a":[1]},"y":[{"a":[1]},{"a":[1]}]}');
  });

  test('custom limits apply', () => {
    const limits = { bytes: 10, depth: 1 };
    expect(refusedAt(() => jsonText([1], limits))).toBe('taken');
    expect(refusedAt(() => jsonText([[]], limits))).toEqual(['malformed.json', '$[0]']);
    expect(refusedAt(() => jsonText('123456789', limits))).toEqual(['malformed.json', '$']);
  });

  test('a path stays short, however long the keys are', () => {
    const long = 'k'.repeat(10_000);
    const path = refusalOf(() => jsonText({ [long]: { [long]: { [long]: { [long]: { [long]: NaN } } } } }))?.['path'];
    expect(String(path).length).toBeLessThanOrEqual(201);
  });

  test('any JSON value comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const safe = parseJson(JSON.stringify(value)); // without -0 and unsafe keys
        expect(jsonText(safe)).toBe(JSON.stringify(safe));
        expect(parseJson(jsonText(safe))).toEqual(safe);
      }),
    );
  });

  test('raw JSON is written as it is, unless it could not be read', () => {
    const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
    expect(jsonText([rawJSON('1.50'), rawJSON('"x\udc00"')])).toBe('[1.50,"x\\udc00"]');
    expect(refusedAt(() => jsonText({ a: rawJSON('1e999') }))).toEqual(['malformed.json', '$.a']);
  });

  test('anything at all is either text that can be parsed, or refused', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    fc.assert(
      fc.property(anything, (value) => {
        let text = 'null';
        if (refusalOf(() => (text = jsonText(value))) === null) expect(checkJsonText(text)).toBe(text);
      }),
      { numRuns: sampleSize(2_000) },
    );
  });
});

describe('a text from outside', () => {
  test.each(['null', ' { "a" : [ 1.50, 1e3 ] } ', '{"a":1,"a":2}', '"\\ud800"', '12345678901234567890'])(
    '%j is taken as it is',
    (text) => {
      expect(checkJsonText(text)).toBe(text);
    },
  );

  test('half a surrogate pair is written as an escape, so that UTF-8 can carry it', () => {
    const text = checkJsonText('{"a":"x\udc00😀"}');
    expect(text).toBe('{"a":"x\\udc00😀"}');
    expect(parseJson(text)).toEqual({ a: 'x\udc00😀' });
  });

  test.each(['', ' ', '{', '[1,]', '{a:1}', "'a'", 'NaN', 'undefined', '01', '"\n"', '[1] 2', '\uFEFF1', '"\\x41"'])(
    '%j is refused',
    (text) => {
      expect(refusalOf(() => checkJsonText(text))?.code).toBe('malformed.json');
    },
  );

  test('the refusal has the position of the error, but nothing of the text', () => {
    const refusal = refusalOf(() => checkJsonText('{"password":"hunter2",}'));
    expect(refusal).toMatchObject({ position: 22 });
    expect(JSON.stringify(refusal)).not.toMatch(/password|hunter2/);
  });

  test.each([
    ['{"a":{"__proto__":{"polluted":1}}}', '$.a.__proto__'],
    ['{"\\u005f_proto__":1}', '$.__proto__'],
    ['[{"constructor":{"prototype":{"polluted":1}}}]', '$[0].constructor'],
    ['{"a":[0,1e999]}', '$.a[1]'],
    [`[-${'9'.repeat(400)}]`, '$[0]'],
  ])('%j is refused with its path', (text, path) => {
    expect(refusedAt(() => checkJsonText(text))).toEqual(['malformed.json', path]);
  });

  test('such words are fine as values', () => {
    const text = '["__proto__","constructor",{"a":"prototype"}]';
    expect(checkJsonText(text)).toBe(text);
    expect(parseJson(text)).toEqual(['__proto__', 'constructor', { a: 'prototype' }]);
  });

  test('64 levels are taken, and 65 refused', () => {
    expect(refusedAt(() => checkJsonText(JSON.stringify(nested(64))))).toBe('taken');
    expect(refusalOf(() => checkJsonText('['.repeat(65) + ']'.repeat(65)))).toMatchObject({ position: 64 });
  });

  test.each(['[{', '"[[', '\\"[['])('brackets within strings make nothing deep: %j', (start) => {
    const text = JSON.stringify(['\\', start + '[{'.repeat(100)]);
    expect(checkJsonText(text)).toBe(text);
  });

  test.each(['[', '{"a":', '[{"":'])('a megabyte of %j is refused after 65 levels', (unit) => {
    const text = unit.repeat(1_000_000 / unit.length);
    expect(refusalOf(() => checkJsonText(text))?.['position']).toBeLessThan(400);
  });

  test('a text of exactly the most bytes is taken, one byte more is refused', () => {
    const most = defaultJsonLimits.bytes;
    expect(refusedAt(() => checkJsonText(`"${'a'.repeat(most - 2)}"`))).toBe('taken');
    expect(refusedAt(() => checkJsonText(`"${'a'.repeat(most - 1)}"`))).toEqual(['malformed.json', '$']);
  });

  test('any text is taken only if it parses', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-', 'e9', 'true', 'null', ' ', '\\');
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))), (text) => {
        const taken = refusalOf(() => checkJsonText(text)) === null;
        if (taken) expect(parseJson(text)).toEqual(JSON.parse(text));
        else if (!/proto|constructor|e9\d\d/.test(text)) expect(() => JSON.parse(text) as unknown).toThrow();
      }),
      { numRuns: sampleSize(2_000) },
    );
  });
});

describe('a value read back', () => {
  test('keys that could reach a prototype are left out', () => {
    const value = parseJson('{"a":{"__proto__":{"polluted":1},"b":[{"constructor":1,"c":2}]},"\\u0070rototype":3}');
    expect(value).toEqual({ a: { b: [{ c: 2 }] } });
    expect(Object.getPrototypeOf((value as { a: object }).a)).toBe(Object.prototype);
  });

  test('a text that cannot be read is refused', () => {
    expect(refusalOf(() => parseJson('{'))?.code).toBe('malformed.json');
    const deep = '['.repeat(500_000) + '"constructor"' + ']'.repeat(500_000);
    expect(refusalOf(() => parseJson(deep))?.code).toBe('malformed.json');
  });
});

describe('a merge patch', () => {
  // The examples of RFC 7396, appendix A.
  test.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [['a', 'b'], ['c', 'd'], ['c', 'd']],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j patched with %j is %j', (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  test('the target and the patch stay as they were', () => {
    const [target, patch] = [{ a: { b: 1 } }, { a: { c: 2 } }];
    mergePatch(target, patch);
    expect([target, patch]).toEqual([{ a: { b: 1 } }, { a: { c: 2 } }]);
  });

  test('a hostile patch changes no prototype: its keys are data', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":1}') as Json;
    const merged = mergePatch(JSON.parse('{"__proto__":{"x":1},"b":2}') as Json, patch);
    expect(Reflect.ownKeys(merged as object)).toEqual(['__proto__', 'b', 'constructor', 'a']);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });

  test('a key that objects inherit is not taken for one of the target', () => {
    expect(mergePatch({}, { toString: { a: 1 }, valueOf: null })).toEqual({ toString: { a: 1 } });
  });
});

test('a faithful parse keeps only the numbers as written that JavaScript would write otherwise', () => {
  const text = '{"id":7,"big":12345678901234567890,"one":1.0,"list":[1e3,-2.5]}';
  const parsed = parseFaithfully(text) as { id: unknown };
  expect(parsed.id).toBe(7);
  expect(JSON.stringify(parsed)).toBe(text);
});
