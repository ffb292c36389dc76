/** A site: one entrant on fresh ground, with the hands that were hired for one measurement. */
import { join } from 'node:path';
import { Child } from '../child.ts';
import type { Entrant } from './entrant.ts';
import type { PeerGround } from './host.ts';
import type { Order } from './hand.ts';
import { bunIn, folderOf } from './install.ts';

const handModule = join(import.meta.dirname, 'hand.ts');

export class Site {
  readonly entrant: Entrant;
  readonly ground: PeerGround;
  readonly #hands: Child<Order>[] = [];

  constructor(entrant: Entrant, ground: PeerGround) {
    this.entrant = entrant;
    this.ground = ground;
  }

  async hire(): Promise<Child<Order>> {
    const { name, peer, runtime } = this.entrant;
    const folder = peer === 'ours' ? '' : folderOf(peer);
    const hand = new Child<Order>(handModule, { program: runtime === 'bun' ? bunIn(folder) : undefined, isQuiet: true });
    this.#hands.push(hand);
    await hand.ask({ do: 'open', entrant: name, at: this.ground.at, folder });
    return hand;
  }

  /** They go by themselves. */
  async dismiss(): Promise<void> {
    await Promise.all(this.#hands.map((hand) => hand.dismiss({ do: 'close' })));
  }

  async kill(): Promise<void> {
    await Promise.all(this.#hands.map((hand) => hand.kill()));
  }
}

/** Lets hands go when the work is done, and ends them when it went wrong. */
export async function withSite<T>(entrant: Entrant, ground: PeerGround, work: (site: Site) => Promise<T>): Promise<T> {
  const site = new Site(entrant, ground);
  try {
    const answer = await work(site);
    await site.dismiss();
    return answer;
  } finally {
    await site.kill();
  }
}
