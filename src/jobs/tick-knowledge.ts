/** What ticking must know about the running programs: the entries of job types, and the definitions to disable. */
import type { Definition } from '../model/definition.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { readTypes } from './catalogue.ts';
import type { Store } from '../store/store.ts';

export interface TickKnowledge {
  /** Returns the current entries of these job types, whose settings apply to new runs. */
  readonly typesOf: (names: readonly string[]) => Promise<ReadonlyMap<string, TypeEntry>>;
  /** Returns the names of the definitions to disable, because no living build declares them. */
  readonly undeclaredOf?: (defs: readonly DeployedDef[]) => Promise<ReadonlySet<string>>;
}

/** What the store alone knows: the registered types. */
export const registered = ({ store }: { readonly store: Pick<Store, 'load'> }): TickKnowledge =>
  ({ typesOf: (names) => readTypes(store, names) });

export type DeployedDef = Pick<Definition, 'build'> & { readonly name: string };
