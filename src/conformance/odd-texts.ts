/** Odd texts: texts that a store with errors in escaping, encoding or limits would change or refuse. */

/** Texts that every text field (a message, a tag, a key, a reason) must store unchanged. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  "it's",
  '"quoted"',
  'back\\slash \\n \\u0041',
  '100%_done_',
  "'; truncate job; --",
  '$1 $$ :name ?1 @p {} ${x}',
  'line\nbreak\r\ttab',
  'Grüße, ÄÖÜ, ñ, ß, İı',
  '日本語 עברית العربية',
  '👩‍👩‍👧‍👦 𝒳 🏳️‍🌈',
  'e\u0301 versus \u00e9',
  '\u200b\u2028\u2029\ufeff',
  'null',
  '__proto__',
];

/** Texts for fields that are stored as JSON: JSON can also contain NUL, unpaired surrogates and noncharacters. */
export const textsForJson: readonly string[] = [
  ...oddTexts, 'a\u0000b', '\u0001\u001f\u007f', '\ud800 alone', '\uffff\ufffe',
];

/** Texts for fields that have JSON, such as the input. A store must return them unchanged, character by character. */
export const oddPayloads: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '1e400',
  '12345678901234567890.123456789',
  '""',
  '[]',
  '{}',
  ' { "spaces" : [ 1 , 2 ] }\n',
  '{"b":1,"a":2,"b":3}',
  '{"":{"":0}}',
  '"\\u0000 in the middle \\u0000"',
  '{"\\u0000":"\\u0000"}',
  '"\\ud83d\\ude00 and 😀"',
  '"\\ud800 alone \\udfff"',
  '"\\\\u0000 is no escape"',
  '"\\u2028\u2029"',
  `"${"it's %_ $1 ?1"}"`,
  `${'['.repeat(60)}${']'.repeat(60)}`,
  ...textsForJson.map((text) => JSON.stringify({ [text]: text })),
];

/** About 900 kB, with characters of every length in UTF-8. */
export const hugePayload = JSON.stringify({ text: 'aß語😀'.repeat(90_000) });
