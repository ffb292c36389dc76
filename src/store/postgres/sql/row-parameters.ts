/**
 * Packs many rows into few parameters. A column with equal values in all rows is one scalar parameter; each other
 * column is one array. Most columns of a batch have equal values. So a bulk insert takes the server half as long as one
 * whose rows are a single JSON parameter.
 */

/**
 * The kind of a column, which decides how its values are written as the text of an array. JSON texts contain no raw
 * control characters except tabs and line ends, so an array of JSON texts is written without quotes, with another
 * control character as the separator.
 */
export type ColumnKind = 'number' | 'name' | 'json' | 'ctid';

export type Value = string | number | null;

export type RowField<Item> = readonly [name: string, kind: ColumnKind, of: (item: Item) => Value];
export type RowFields<Item> = readonly RowField<Item>[];

/** Returns a query that yields one row for each item, and appends its parameters to `values`. */
export function rowsSql<Item>(fields: RowFields<Item>, items: readonly Item[], values: unknown[]): string {
  const { varyingColumns, texts } = packRows(fields, items);
  const text = packedRowsSql(fields, varyingColumns, values.length + 1, hideFromPlanner);
  values.push(...texts);
  return text;
}

/** Returns a query for rows that `packRows` packed. Their texts are the parameters from number `first` on. */
export function packedRowsSql<Item>(
  fields: RowFields<Item>,
  varyingColumns: string,
  first: number,
  wrap: (value: string) => string = plain,
): string {
  const differing = new Set(varyingColumns.split(','));
  const chosen: string[] = [];
  const arrays: string[] = [];
  fields.forEach(([name, kind], index) => {
    const parameter = `$${first + index}`;
    chosen.push(differing.has(name) ? name : `${wrap(`${parameter}::${sqlTypeOf[kind]}`)} as ${name}`);
    if (differing.has(name)) arrays.push(wrap(arrayText(kind, parameter)));
  });
  const source = arrays.length === 0 ? '' : ` from unnest(${arrays.join(', ')}) as each (${varyingColumns})`;
  return `select ${chosen.join(', ')}${source}`;
}

const plain = (value: string): string => value;

/** Returns the SQL of a column's new value. */
export type ColumnSql = (column: string) => string;

/**
 * Returns the function that maps a column to its parameter, in a statement with one packed row. The texts of the row
 * are the parameters from number `first` on.
 */
export function parameterSql<Item>(fields: RowFields<Item>, first: number): ColumnSql {
  const sqlOf = new Map(fields.map(([name, kind], index) => [name, `$${first + index}::${sqlTypeOf[kind]}`]));
  return (column) => sqlOf.get(column)!;
}

/** Rows as one text per field. `varyingColumns` names the fields in which the rows differ, separated by commas. */
export interface PackedRows {
  readonly varyingColumns: string;
  readonly texts: readonly (string | null)[];
}

export function packRows<Item>(fields: RowFields<Item>, items: readonly Item[]): PackedRows {
  const differing: string[] = [];
  const texts = fields.map(([name, kind, of]) => {
    const first = items.length === 0 ? null : of(items[0]!);
    const from = firstOther(items, of, first);
    if (from === items.length) return first === null ? null : String(first);
    differing.push(name);
    return arrayValue(kind, valuesOf(items, of, first, from));
  });
  return { varyingColumns: differing.join(','), texts };
}

function firstOther<Item>(items: readonly Item[], of: (item: Item) => Value, first: Value): number {
  let at = 1;
  while (at < items.length && of(items[at]!) === first) at += 1;
  return Math.min(at, items.length);
}

function valuesOf<Item>(items: readonly Item[], of: (item: Item) => Value, first: Value, from: number): Value[] {
  const values: Value[] = Array(items.length);
  for (let at = 0; at < items.length; at += 1) values[at] = at < from ? first : of(items[at]!);
  return values;
}

/** Returns a query that unpacks stored rows: `texts` is the column of `source` that contains the packed texts. */
export function unpackedRowsSql<Item>(
  fields: RowFields<Item>,
  varyingColumns: string,
  source: string,
  texts: string,
): string {
  const differing = new Set(varyingColumns.split(','));
  const same = fields.flatMap(([name, kind], index) =>
    differing.has(name) ? [] : [`${texts}[${index + 1}]::${sqlTypeOf[kind]} as ${name}`],
  );
  const once = `${source} cross join lateral (select ${same.join(', ')} offset 0) same`;
  if (varyingColumns === '') return `select same.* from ${once}`;
  const arrays = fields.flatMap(([name, kind], index) =>
    differing.has(name) ? [arrayText(kind, `${texts}[${index + 1}]`)] : [],
  );
  return `select same.*, each.* from ${once} cross join lateral unnest(${arrays.join(', ')}) as each (${varyingColumns})`;
}

/**
 * Wraps a parameter in a sub-select so that the planner does not know its value. Otherwise, in a statement that joins
 * these rows with stored jobs, the planner may search the jobs by `version` first instead of by id.
 */
const hideFromPlanner = (value: string): string => `(select ${value})`;

/** Writes numbers as the text of a parameter that is cast to `bigint[]`. */
export const numberArray = (numbers: readonly (number | null)[]): string => arrayValue('number', numbers);

/** Writes names as the text of a parameter that is cast to `text[]`. */
export const textArray = (names: readonly (string | null)[]): string => arrayValue('name', names);

/** Writes ctids as the text of a parameter that is cast to `tid[]`. They contain commas, but nothing to escape. */
export const ctidArray = (ctids: readonly string[]): string => `{"${ctids.join('","')}"}`;

const sqlTypeOf = { number: 'bigint', name: 'text', json: 'text', ctid: 'tid' } as const;

const separator = '\x1e';
const absent = '\x1d';

function arrayValue(kind: ColumnKind, values: readonly Value[]): string {
  switch (kind) {
    case 'number':
      return `{${values.map((number) => number ?? 'null').join(',')}}`;
    case 'ctid':
      return ctidArray(values as readonly string[]);
    case 'name':
      return `{${values.map((name) => (name === null ? 'null' : quoted(String(name)))).join(',')}}`;
    case 'json':
      return values.map((text) => text ?? absent).join(separator);
  }
}

const quoted = (name: string): string => `"${name.replace(/["\\]/g, '\\$&')}"`;

const arrayText = (kind: ColumnKind, parameter: string): string =>
  kind === 'json' ? String.raw`string_to_array(${parameter}, E'\x1e', E'\x1d')` : `${parameter}::${sqlTypeOf[kind]}[]`;
