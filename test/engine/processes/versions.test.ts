// A rolling deploy of three versions, and a roll-back, with real processes under load and kills: no run is lost, none
// fails, and none is started by code that does not know its input.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { Job, RunHandle } from '../../../src/index.ts';
import { openStandings } from '../../../src/store/query.ts';
import { verify } from '../../../src/verify.ts';
import { bySize } from '../../support/size.ts';
import { mail, type Version } from './children/versioned.ts';
import type { Entry } from './children/ledger.ts';
import { flawsOf, histories, ledgerFlaws } from './histories.ts';
import type { Member } from './member.ts';
import { storeKinds, World } from './world.ts';

const batch = 10;
const betweenBatchesMs = 50;

interface Created {
  readonly run: RunHandle;
  readonly version: Version;
  readonly address: string;
}

/** Two instances that are deployed to, and producers of the deployed version that never pause. */
class Deployment implements AsyncDisposable {
  readonly created: Created[] = [];
  readonly #world: World;
  readonly #instances = new Map<string, Member>();
  readonly #producing: Promise<void>;
  #version: Version;
  #isOver = false;
  #addresses = 0;

  private constructor(world: World, version: Version) {
    this.#world = world;
    this.#version = version;
    this.#producing = this.#produce();
  }

  static async start(world: World, version: Version): Promise<Deployment> {
    const deployment = new Deployment(world, version);
    for (const name of ['a', 'b']) await deployment.#replace(name, version, 'SIGTERM');
    return deployment;
  }

  /** Replaces the instances one by one; the producers change after the first. */
  async deploy(version: Version): Promise<void> {
    await this.#replace('a', version, 'SIGTERM');
    this.#version = version;
    await this.#someRuns();
    await this.#replace('b', version, 'SIGKILL');
    await this.#someRuns();
  }

  /** Kills an instance under load and starts it again with the same code. */
  async crash(name: string): Promise<void> {
    await this.#someRuns();
    await this.#replace(name, Number(this.#instances.get(name)!.instance[1]) as Version, 'SIGKILL');
  }

  /** Creates runs as a producer with the code of this version does. */
  async create(version: Version): Promise<Created[]> {
    const addresses = Array.from({ length: batch }, () => `${(this.#addresses += 1)}@example.com`);
    const runs = await this.#createFor(version, addresses);
    const created = runs.map((run, index) => ({ run, version, address: addresses[index]! }));
    this.created.push(...created);
    return created;
  }

  async stopProducing(): Promise<void> {
    this.#isOver = true;
    await this.#producing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stopProducing();
  }

  async #replace(name: string, version: Version, signal: NodeJS.Signals): Promise<void> {
    const old = this.#instances.get(name);
    const generation = this.#world.entries({ what: 'ready' }).length;
    const options = { build: `build ${version}` };
    this.#instances.set(name, await this.#world.start('versioned', `v${version} ${name} ${generation}`, options));
    await old?.end(signal);
  }

  async #produce(): Promise<void> {
    for (; !this.#isOver; await sleep(betweenBatchesMs)) await this.create(this.#version);
  }

  async #createFor(version: Version, addresses: readonly string[]): Promise<readonly RunHandle[]> {
    const { engine } = this.#world;
    if (version === 1) return engine.createJobRuns(mail[1], addresses.map((to) => ({ input: { to } })));
    if (version === 2) return engine.createJobRuns(mail[2], addresses.map((to) => ({ input: { to: [to] } })));
    return engine.createJobRuns(mail[3], addresses.map((to) => ({ input: { recipients: [to] } })));
  }

  #someRuns(): Promise<true> {
    const enough = this.#world.entries({ what: 'start' }).length + 5 * batch;
    return this.#world.until('runs to start', () => this.#world.entries({ what: 'start' }).length >= enough || null);
  }
}

/** It starts a dozen processes, so it is in the proof only. */
test.runIf(bySize({ small: false, ci: true })).each(storeKinds)('on $name, deploys and a roll-back under kills lose and fail no run', async (kind) => {
  await using world = await World.create(kind);
  await using deployment = await Deployment.start(world, 1);
  await deployment.crash('a');
  await deployment.deploy(2);
  await deployment.crash('b');
  await deployment.deploy(3);
  await deployment.crash('a');

  await deployment.deploy(2);
  const newestId = deployment.created.at(-1)!.run.id;
  const [unknown] = await deployment.create(3);
  await world.until('the end of the runs that the old code knows', async () =>
    (await openRuns(world)).every(({ id, typeVersion }) => typeVersion === 3 || id > newestId) || null);
  await world.until('the lease of the last instance that knows it to lapse', async () =>
    (await unknown!.run.explain())[0]?.code === 'version.unknown' || null);

  await deployment.deploy(3);
  await deployment.stopProducing();
  await world.until('the end of all runs', async () => (await openRuns(world)).length === 0 || null);
  const told = await histories(world.engine);
  expect(new Set(told.map(({ job }) => job.id))).toEqual(new Set(deployment.created.map(({ run }) => run.id)));
  expect(told.filter(({ job }) => job.state !== 'ended' || job.fate !== 'succeeded')).toEqual([]);
  expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
  expect(unfitStarts(deployment, world)).toEqual([]);
  expect(await Array.fromAsync(verify(world.engine.jobs.store))).toEqual([]);
});

const openRuns = async ({ engine }: World): Promise<readonly Job[]> =>
  (await engine.find({ types: ['mail'], standings: openStandings }, { limit: 1_000 })).jobs;

/** The starts by code that does not know the input, or that got another input than was created. */
function unfitStarts({ created }: Deployment, world: World): Entry[] {
  const runs = new Map(created.map(({ run, version, address }) => [run.id, { version, address }]));
  return world.entries({ what: 'start' }).filter(({ job, version, addresses }) => {
    const run = runs.get(job!)!;
    return run.version > (version as number) || !isDeepStrictEqual(addresses, [run.address]);
  });
}
