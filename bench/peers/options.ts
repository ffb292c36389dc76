/** The options of the command line. */
import { parseArgs } from 'node:util';
import { checkStore, checkWords, select } from '../options.ts';
import type { Peer } from './peer.ts';
import { peers } from './peers.ts';
import { isTakenOf, type Measure } from './measure.ts';
import { measures } from './measures.ts';
import { isOurs } from './ours.ts';
import { fullSizes, quickSizes, tinySizes, type PeerSizes } from './sizes.ts';

export interface PeerOptions {
  readonly sizes: PeerSizes;
  /** Whether to measure the compiled package of Stint instead of its sources. */
  readonly isCompiled: boolean;
  readonly peers: readonly Peer[];
  readonly measures: readonly Measure[];
  /** The file for the figures as JSON. */
  readonly json: string | undefined;
  /** Whether to write the sections of RESULTS.md that were measured. */
  readonly isWritten: boolean;
  /** The URL of an existing PostgreSQL server. */
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
      write: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      store: { type: 'string' },
    },
  });
  const words = values.only.split(',').filter((word) => word !== '');
  checkWords(words, [...peers, ...measures].map(({ name }) => name));
  const chosen = select(measures, words, ({ name }) => name);
  const wanted = select(values.ours ? peers.filter(isOurs) : peers, words, ({ name }) => name);
  return {
    isCompiled: !values.tiny,
    sizes: values.tiny ? tinySizes : values.quick ? quickSizes : fullSizes,
    peers: wanted.filter((peer) => chosen.some((measure) => isTakenOf(measure, peer))),
    measures: chosen,
    json: values.json,
    isWritten: values.write,
    store: checkStore(values.store),
  };
}
