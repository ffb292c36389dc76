/** Secrets: which fields usually contain one, judged by their names, and the removal of secrets from texts. */

const secretNames = /pass(word|wd|phrase)?$|secret|token|authori[sz]ation|(api|private)[-_]?key|credential|cookie/i;

export const isSecretName = (name: string): boolean => secretNames.test(name);

// A name, `=` or `:`, and a value, quoted or not. The lookahead excludes values that begin with Bearer or Basic:
// `withoutSecrets` has already replaced the secret in them.
const secretAssignment = new RegExp(
  String.raw`(\b\w{0,40}(?:password|passwd|secret|token|api[-_]?key|authorization)["']?\s{0,4}[=:]\s{0,4})` +
    String.raw`["']?(?!bearer\b|basic\b)[^\s"',;&}]{1,500}["']?`,
  'gi',
);

/** Replaces secrets by `[redacted]`, in forms such as `password=…`, `Bearer …` and `scheme://user:password@…`. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]')
    .replace(secretAssignment, '$1[redacted]')
    .replace(/(\/\/[^\s/:@]{1,200}:)[^\s/@]{1,200}@/g, '$1[redacted]@');
