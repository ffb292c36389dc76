/** The options of the command line. */
import { parseArgs } from 'node:util';
import type { DatabaseName } from './target.ts';
import { fullSizes, quickSizes, tinySizes, type Sizes } from './sizes.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workload.ts';

export interface Options {
  readonly sizes: Sizes;
  readonly databases: readonly DatabaseName[];
  readonly workloads: readonly Workload[];
  /** The file for the figures as JSON. */
  readonly json: string | undefined;
  /** The URL of an existing PostgreSQL server. */
  readonly store: string | undefined;
}

const shortWorkloads = workloads.filter(({ isLong = false }) => !isLong);

const databaseNames: readonly DatabaseName[] = ['sqlite', 'postgres'];

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      tiny: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string', default: '' },
      store: { type: 'string' },
    },
  });
  const words = values.only.split(',').filter((word) => word !== '');
  checkWords(words, [...databaseNames, ...workloads.map(({ name }) => name)]);
  return {
    sizes: values.tiny ? tinySizes : values.quick ? quickSizes : fullSizes,
    databases: select(databaseNames, words, (name) => name),
    workloads: select(values.quick && words.length === 0 ? shortWorkloads : workloads, words, ({ name }) => name),
    json: values.json,
    store: checkStore(values.store),
  };
}

/** Returns the items whose name contains one of the words; all items if no name does. */
export function select<Item>(
  all: readonly Item[],
  words: readonly string[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  const some = all.filter((item) => words.some((word) => nameOf(item).includes(word)));
  return some.length === 0 ? all : some;
}

export function checkWords(words: readonly string[], names: readonly string[]): void {
  const unknown = words.find((word) => !names.some((name) => name.includes(word)));
  if (unknown !== undefined) throw new Error(`--only ${unknown} matches none of: ${names.join(', ')}`);
}

export function checkStore(store: string | undefined): string | undefined {
  if (store === undefined || /^postgres(ql)?:\/\//.test(store)) return store;
  throw new Error('--store takes the URL of a PostgreSQL: postgres://user@host:port/database');
}
