/** A measure: what is done with an entrant on fresh ground, and what is read off it. */
import type { Entrant } from './entrant.ts';
import type { Reading } from './reading.ts';
import type { Site } from './site.ts';
import type { PeerSizes } from './sizes.ts';

export interface Measure {
  readonly name: string;
  /** Whom it can be asked of. */
  suits(entrant: Entrant): boolean;
  run(site: Site, sizes: PeerSizes): Promise<readonly Reading[]>;
}
