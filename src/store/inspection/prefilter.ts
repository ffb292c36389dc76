/**
 * Finds conditions that every job in a query's result must meet, so that a store need not send all jobs. It understands
 * only queries of the shape `SELECT … FROM jobs WHERE a AND b …`, and of their conditions only the shapes below. From
 * other queries and conditions it derives nothing, and more jobs are sent. The result stays correct, because SQLite
 * executes the whole query on the sent jobs.
 */

export type Prefilter =
  | { readonly column: 'jobID' | 'parentJobID'; readonly values: readonly number[] }
  | { readonly column: 'name'; readonly values: readonly string[] }
  | { readonly column: 'name'; readonly prefix: string };

interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign';
  /** The text of the token: a word in lower case, a string without its quotes. */
  readonly text: string;
}

const tokenShape = /\s+|([a-z_]\w*)|(\d+(?![\w.]))|'((?:[^']|'')*)'|(--|\/\*|[^])/giy;

/**
 * `afterWhere`: the words that end a WHERE clause. `unfit`: words and signs with which a split at AND could go wrong,
 * such as OR, BETWEEN, a comment, or a quoted identifier, which may contain any words. A query that contains an unfit
 * word or sign gives no prefilter.
 */
const afterWhere: ReadonlySet<string> = new Set(['group', 'having', 'window', 'order', 'limit']);
const unfit: ReadonlySet<string> = new Set([
  'or', 'between', 'case', 'union', 'intersect', 'except', 'with', '--', '/*', '"', '`', '[',
]);

/** Returns the conditions that were found; empty: the store must send all jobs. */
export function prefiltersOf(sql: string): readonly Prefilter[] {
  const tokens = tokensOf(sql);
  const isUnfit = tokens.some(({ kind, text }) => kind !== 'string' && unfit.has(text));
  if (isUnfit || tokens.filter(isWord('select')).length !== 1) return [];
  const from = tokens.findIndex(isWord('from'));
  const [table, where] = [tokens[from + 1], tokens[from + 2]];
  if (from === -1 || !table || !where || !isWord('jobs')(table) || !isWord('where')(where)) return [];
  return conjunctsOf(tokens.slice(from + 3)).flatMap((conjunct) => prefilterOf(conjunct) ?? []);
}

function tokensOf(sql: string): Token[] {
  return [...sql.matchAll(tokenShape)].flatMap(([, word, number, string, sign]): Token[] => {
    if (word !== undefined) return [{ kind: 'word', text: word.toLowerCase() }];
    if (number !== undefined) return [{ kind: 'number', text: number }];
    if (string !== undefined) return [{ kind: 'string', text: string.replaceAll(`''`, `'`) }];
    return sign === undefined ? [] : [{ kind: 'sign', text: sign }];
  });
}

const isWord = (wanted: string) => ({ kind, text }: Token): boolean => kind === 'word' && text === wanted;
const isSign = ({ kind, text }: Token, wanted: string): boolean => kind === 'sign' && text === wanted;

/** Splits a WHERE clause at each AND that is outside of parentheses. */
function conjunctsOf(tokens: readonly Token[]): Token[][] {
  const conjuncts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (isSign(token, '(')) depth += 1;
    if (isSign(token, ')')) depth -= 1;
    const isOutside = depth === 0;
    if (isOutside && (isSign(token, ';') || (token.kind === 'word' && afterWhere.has(token.text)))) break;
    if (isOutside && isWord('and')(token)) conjuncts.push([]);
    else conjuncts.at(-1)!.push(token);
  }
  return conjuncts;
}

function prefilterOf([column, ...test]: readonly Token[]): Prefilter | null {
  if (column?.kind !== 'word') return null;
  if (column.text === 'jobid') return numbersOf('jobID', valuesOf(test));
  if (column.text === 'parentjobid') return numbersOf('parentJobID', valuesOf(test));
  return column.text === 'name' ? (namesOf(valuesOf(test)) ?? prefixOf(test)) : null;
}

/** Returns the values of a condition `= value`, `== value` or `IN (value, …)`; null: it has another shape. */
function valuesOf(test: readonly Token[]): readonly Token[] | null {
  const isEquals = (token: Token | undefined): boolean => token !== undefined && isSign(token, '=');
  if (test.length === 2 && isEquals(test[0])) return test.slice(1);
  if (test.length === 3 && isEquals(test[0]) && isEquals(test[1])) return test.slice(2);
  const [word, open, ...rest] = test;
  const close = rest.pop();
  const isList = word && isWord('in')(word) && open && isSign(open, '(') && close && isSign(close, ')');
  const isSeparated = rest.length % 2 === 1 && rest.every((token, n) => n % 2 === 0 || isSign(token, ','));
  return isList && isSeparated ? rest.filter((_, n) => n % 2 === 0) : null;
}

/**
 * Returns the condition on an integer column; null: there are no values, or one is not a positive integer of at most 15
 * digits. A quoted `'7'` counts as 7, as in SQLite. The value 0 is excluded: it selects jobs without a parent, for
 * which stores have null instead of 0.
 */
function numbersOf(column: 'jobID' | 'parentJobID', values: readonly Token[] | null): Prefilter | null {
  const isNumber = ({ kind, text }: Token): boolean =>
    (kind === 'number' || kind === 'string') && /^[1-9]\d{0,14}$/.test(text);
  return values?.every(isNumber) ? { column, values: values.map(({ text }) => Number(text)) } : null;
}

const namesOf = (values: readonly Token[] | null): Prefilter | null =>
  values?.every(({ kind }) => kind === 'string') ? { column: 'name', values: values.map(({ text }) => text) } : null;

/**
 * Returns the condition that follows from `GLOB 'prefix*'`; null: the condition has another shape, or its pattern has
 * no literal prefix.
 */
function prefixOf([word, pattern, ...rest]: readonly Token[]): Prefilter | null {
  if (!word || !isWord('glob')(word) || pattern?.kind !== 'string' || rest.length > 0) return null;
  const [prefix = ''] = /^[^*?[]*/.exec(pattern.text) ?? [];
  return prefix === '' ? null : { column: 'name', prefix };
}
