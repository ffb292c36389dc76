/** What may be said on the command line. */
import { parseArgs } from 'node:util';
import type { EngineName } from './contender.ts';
import { fullSizes, quickSizes, tinySizes, type Sizes } from './sizes.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workload.ts';

export interface Options {
  readonly sizes: Sizes;
  readonly engines: readonly EngineName[];
  readonly workloads: readonly Workload[];
  /** Where the figures go as data. */
  readonly json: string | undefined;
  /** The URL of a PostgreSQL that is there already. */
  readonly store: string | undefined;
}

const short = workloads.filter(({ isLong = false }) => !isLong);

const engineNames: readonly EngineName[] = ['sqlite', 'postgres'];

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
  checkWords(words, [...engineNames, ...workloads.map(({ name }) => name)]);
  return {
    sizes: values.tiny ? tinySizes : values.quick ? quickSizes : fullSizes,
    engines: chosen(engineNames, words, (name) => name),
    workloads: chosen(values.quick && words.length === 0 ? short : workloads, words, ({ name }) => name),
    json: values.json,
    store: checkStore(values.store),
  };
}

/** Those whose names have one of the words; when no word means any of them, all. */
export function chosen<Thing>(
  all: readonly Thing[],
  words: readonly string[],
  nameOf: (thing: Thing) => string,
): readonly Thing[] {
  const some = all.filter((thing) => words.some((word) => nameOf(thing).includes(word)));
  return some.length === 0 ? all : some;
}

export function checkWords(words: readonly string[], names: readonly string[]): void {
  const strange = words.find((word) => !names.some((name) => name.includes(word)));
  if (strange !== undefined) throw new Error(`--only ${strange} means none of: ${names.join(', ')}`);
}

export function checkStore(store: string | undefined): string | undefined {
  if (store === undefined || /^postgres(ql)?:\/\//.test(store)) return store;
  throw new Error('--store takes the URL of a PostgreSQL: postgres://user@host:port/database');
}
