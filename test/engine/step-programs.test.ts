// Random programs of steps and sleeps, executed by processes that crash.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jobType, type Context } from '../../src/index.ts';
import { testEngine, type TestEngine } from '../../src/testing/index.ts';

type Part =
  | { readonly do: 'step' | 'fail'; readonly name: string }
  | { readonly do: 'sleep'; readonly name: string; readonly seconds: number }
  | { readonly do: 'together'; readonly parts: readonly Part[] };

const leaf: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ do: fc.constantFrom('step' as const, 'step' as const, 'fail' as const), name: fc.constant('') }),
  fc.record({ do: fc.constant('sleep' as const), name: fc.constant(''), seconds: fc.integer({ min: 0, max: 5 }) }),
);
const program = fc.array(fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('together' as const), parts: fc.array(leaf, { minLength: 2, maxLength: 3 }) }) },
), { minLength: 1, maxLength: 6 });

/** Names the parts by their places. */
const named = (parts: readonly Part[], prefix = ''): Part[] => parts.map((part, at) => (part.do === 'together'
  ? { ...part, parts: named(part.parts, `${prefix}${at}.`) } : { ...part, name: `${prefix}${at}` }));

const wantedOf = (part: Part): unknown => (part.do === 'together' ? part.parts.map(wantedOf)
  : `${part.do === 'sleep' ? 'slept' : 'did'} ${part.name}`);

/** Executes programs, and crashes at given points: before a result is stored, or after it. */
class Execution {
  readonly #crashes: number[];
  readonly #crash: () => void;
  readonly #failed = new Set<string>();
  readonly #stored = new Set<string>();
  /** The steps that were executed although their result had been stored. */
  readonly repeated: string[] = [];
  isCrashed = false;

  constructor(crashes: readonly number[], crash: () => void) {
    this.#crashes = [...crashes];
    this.#crash = crash;
  }

  async execute(part: Part, context: Context): Promise<unknown> {
    if (part.do === 'together') return Promise.all(part.parts.map((each) => this.execute(each, context)));
    if (part.do === 'sleep') {
      await context.sleep(part.name, `${part.seconds}s`);
      this.#pass();
      return `slept ${part.name}`;
    }
    const result = await context.step(part.name, async () => {
      if (this.#stored.has(part.name)) this.repeated.push(part.name);
      if (part.do === 'fail' && this.#failed.size < this.#failed.add(part.name).size) throw new Error('at first it fails');
      this.#pass();
      return `did ${part.name}`;
    });
    this.#stored.add(part.name);
    this.#pass();
    return result;
  }

  /** A place at which the process may crash: after as many places as the next number says. */
  #pass(): void {
    if (this.#crashes.length === 0) return;
    this.#crashes[0]! -= 1;
    if (this.#crashes[0]! >= 0) return;
    this.#crashes.shift();
    this.isCrashed = true;
    this.#crash();
  }
}

test('any program of steps and sleeps under any crashes gives the result of a run without them', async () => {
  const crashes = fc.array(fc.nat({ max: 4 }), { maxLength: 3 });
  await fc.assert(fc.asyncProperty(program, crashes, async (parts, points) => {
    const all = named(parts);
    const execution = new Execution(points, () => t.crash());
    const type = jobType('program', {
      retry: { attempts: 20, base: '1s', crashes: 20 },
      run: async (context) => {
        const results: unknown[] = [];
        for (const part of all) results.push(await execution.execute(part, context));
        return results;
      },
    });
    const t: TestEngine = await testEngine({ types: [type] });
    const run = await t.createJobRun(type, { delay: '1s' });
    for (let rounds = 0; rounds < 100 && (await run.get()).state !== 'ended'; rounds += 1) {
      await t.advance('5s');
      if (execution.isCrashed) await t.restart();
      execution.isCrashed = false;
    }
    expect((await run.get()).state).toBe('ended');
    expect(await run.result()).toEqual(all.map(wantedOf));
    expect(execution.repeated).toEqual([]);
    await t.close();
  }), { numRuns: 15 });
});
