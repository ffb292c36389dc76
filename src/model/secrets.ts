/** Secrets in names and texts: which fields usually hold one, and a text without those it contains. */

const secretNames = /pass(word|wd|phrase)?$|secret|token|authori[sz]ation|(api|private)[-_]?key|credential|cookie/i;

/** Whether a field of this name usually holds a secret. */
export const isSecretName = (name: string): boolean => secretNames.test(name);

// A name, `=` or `:`, and a value, quoted or not. The lookahead leaves "Bearer …" to the replacement before.
const secretAssignment = new RegExp(
  String.raw`(\b\w{0,40}(?:password|passwd|secret|token|api[-_]?key|authorization)["']?\s{0,4}[=:]\s{0,4})` +
    String.raw`["']?(?!bearer\b|basic\b)[^\s"',;&}]{1,500}["']?`,
  'gi',
);

/** Replaces secrets in a text: `password=…`, `Bearer …`, `scheme://user:password@…`. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]')
    .replace(secretAssignment, '$1[redacted]')
    .replace(/(\/\/[^\s/:@]{1,200}:)[^\s/@]{1,200}@/g, '$1[redacted]@');
