/** What may be said on the command line. */
import { parseArgs } from 'node:util';
import { chosen, checkStore, checkWords } from '../options.ts';
import type { Entrant } from './entrant.ts';
import { entrants } from './entrants.ts';
import type { Measure } from './measure.ts';
import { measures } from './measures.ts';
import { isOurs } from './ours.ts';
import { fullSizes, quickSizes, tinySizes, type PeerSizes } from './sizes.ts';

export interface PeerOptions {
  readonly sizes: PeerSizes;
  /** Whether our engine is measured as it is published, and not from its sources. */
  readonly isBuilt: boolean;
  readonly entrants: readonly Entrant[];
  readonly measures: readonly Measure[];
  /** Where the figures go as data. */
  readonly json: string | undefined;
  /** The URL of a PostgreSQL that is there already. */
  readonly store: string | undefined;
}

export function readOptions(args: readonly string[]): PeerOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      tiny: { type: 'boolean', default: false },
      ours: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string', default: '' },
      store: { type: 'string' },
    },
  });
  const words = values.only.split(',').filter((word) => word !== '');
  checkWords(words, [...entrants, ...measures].map(({ name }) => name));
  return {
    isBuilt: !values.tiny,
    sizes: values.tiny ? tinySizes : values.quick ? quickSizes : fullSizes,
    entrants: chosen(values.ours ? entrants.filter(isOurs) : entrants, words, ({ name }) => name),
    measures: chosen(measures, words, ({ name }) => name),
    json: values.json,
    store: checkStore(values.store),
  };
}
