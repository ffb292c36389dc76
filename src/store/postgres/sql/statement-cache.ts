/**
 * Texts of statements, put together once for each schema and shape of their parameters: for a lone job, to build and
 * compare them took a tenth of the time that writing it takes.
 */

const textsMax = 1_000;

export function cachedStatement(
  write: (schema: string, shape: string) => string,
): (schema: string, shape: string) => string {
  const texts = new Map<string, string>();
  return (schema, shape) => {
    const name = `${schema} ${shape}`;
    const known = texts.get(name);
    if (known !== undefined) return known;
    if (texts.size === textsMax) texts.clear();
    const text = write(schema, shape);
    texts.set(name, text);
    return text;
  };
}
