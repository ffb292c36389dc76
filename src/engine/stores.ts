/** The stores of an engine: the database, and the memory of this process for jobs that must not be persisted. */
import { definition, type KnownDefinition } from '../jobs/define.ts';
import { DefinitionCache } from '../jobs/definition-cache.ts';
import type { Jobs } from '../jobs.ts';
import { definitionKey, type Spec } from '../model/definition.ts';
import type { Page, PageRequest, Query, Tally } from '../store/query.ts';
import { TallySum } from '../store/tally-sum.ts';

/** The lowest id of in-memory jobs. All ids in the database are lower, so an id shows which store has the job. */
export const firstMemoryId = 2 ** 52;

const pageDefault = 100;

export class Stores {
  readonly database: Jobs;
  readonly memory: Jobs;
  readonly #definitions: readonly DefinitionCache[];

  constructor(database: Jobs, memory: Jobs) {
    this.database = database;
    this.memory = memory;
    this.#definitions = [database, memory].map(({ store }) => new DefinitionCache(store));
  }

  forJob(id: number): Jobs {
    return id >= firstMemoryId ? this.memory : this.database;
  }

  forSpec({ inMemory }: Pick<Spec, 'inMemory'>): Jobs {
    return inMemory ? this.memory : this.database;
  }

  async forDefinition(name: string): Promise<Jobs> {
    const known = await this.memory.store.jobsByKey([definitionKey(name)]);
    return known.size > 0 ? this.memory : this.database;
  }

  async definition(name: string): Promise<KnownDefinition> {
    return definition((await this.forDefinition(name)).store, name);
  }

  async definitions(): Promise<readonly KnownDefinition[]> {
    return (await Array.fromAsync(this.definitionPages())).flat();
  }

  async *definitionPages(after?: number): AsyncGenerator<readonly KnownDefinition[], void> {
    for (const definitions of this.#definitions) yield* definitions.pages(after);
  }

  /** Finds jobs of both stores as one list in the order of ids: jobs in memory have the higher ids. */
  async find(query: Query, page: PageRequest = {}): Promise<Page> {
    const { order = 'newest', after, limit = pageDefault } = page;
    const [first, second] = order === 'newest' ? [this.memory, this.database] : [this.database, this.memory];
    if (after !== undefined && this.forJob(after) === second) return second.find(query, page);
    const firstPage = await first.find(query, page);
    if (firstPage.next !== null) return firstPage;
    const room = limit - firstPage.jobs.length;
    const { after: _passed, ...rest } = page;
    const secondPage = await second.find(query, { ...rest, limit: Math.max(1, room) });
    if (room > 0) return { jobs: [...firstPage.jobs, ...secondPage.jobs], next: secondPage.next };
    return { jobs: firstPage.jobs, next: secondPage.jobs.length > 0 || secondPage.next !== null
      ? firstPage.jobs.at(-1)!.id
      : null };
  }

  async count(query: Query, dueBy?: number): Promise<readonly Tally[]> {
    const stored = await this.database.count(query, dueBy);
    const inMemory = await this.memory.count(query, dueBy);
    if (inMemory.length === 0) return stored;
    const sum = new TallySum();
    for (const tally of [...stored, ...inMemory]) sum.add(tally);
    return sum.all();
  }
}
