/**
 * The statement cache: the text of a statement is built once per schema and set of varying columns.
 *
 * Saves (bench/LEDGER.md, "a single change has a statement with few CTEs, whose text is cached"): for a single job,
 * building the text and looking up its prepared statement took a tenth of the time of the write.
 * Applies to statements whose text depends only on the schema and the varying columns. Without it the text is built for
 * every execution.
 */

const textsMax = 1_000;

export function cachedStatement(
  write: (schema: string, varyingColumns: string) => string,
): (schema: string, varyingColumns: string) => string {
  const texts = new Map<string, string>();
  return (schema, varyingColumns) => {
    const name = `${schema} ${varyingColumns}`;
    const known = texts.get(name);
    if (known !== undefined) return known;
    if (texts.size === textsMax) texts.clear();
    const text = write(schema, varyingColumns);
    texts.set(name, text);
    return text;
  };
}
