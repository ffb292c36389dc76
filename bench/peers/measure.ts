/** A measure: what the bench does with a peer on a scratch database, and the readings it takes. */
import type { Peer } from './peer.ts';
import type { Reading } from './reading.ts';
import type { PeerFixture } from './peer-fixture.ts';
import type { PeerSizes } from './sizes.ts';

export interface Measure {
  readonly name: string;
  appliesTo(peer: Peer): boolean;
  run(fixture: PeerFixture, sizes: PeerSizes): Promise<readonly Reading[]>;
}

export const isTakenOf = (measure: Measure, peer: Peer): boolean =>
  measure.appliesTo(peer) && (peer.only ?? measure.name) === measure.name;
