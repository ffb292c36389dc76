/** `stint types show`: the settings of a job type and the schema of its input, from the catalogue. */
import { readTypes } from '../../jobs/catalogue.ts';
import type { TypeEntry } from '../../model/type-entry.ts';
import { Refusal } from '../../refusal.ts';
import { formatDuration } from '../../time/duration.ts';
import { harmless, printJson, printLine, styled } from '../print.ts';
import { withEngine, type CommonFlags } from '../session.ts';

export const showType = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const entry = (await readTypes(engine.jobs.store, [name])).get(name);
    if (entry === undefined) {
      throw new Refusal('unknown.type', `no instance has registered the job type ${name}: start one with its code`, { name });
    }
    const schema = entry.schema === null ? null : (JSON.parse(entry.schema) as unknown);
    if (options.json) return printJson({ ...entry, schema });
    printLine(styled('bold', harmless(entry.name)));
    for (const [label, value] of factsOf(entry)) if (value !== null) printLine(`  ${label.padEnd(18)} ${value}`);
    printLine(schema === null ? '  input              any JSON' : '  input              JSON Schema:');
    if (schema !== null) printLine(harmless(JSON.stringify(schema, null, 2)));
  });

function factsOf({ policy, phase, onePerType, concurrency, taskConcurrency, keyConcurrency, isolate, priority }: TypeEntry) {
  const facts: [string, string | number | null][] = [
    ['tasks', phase === 'prepare' ? 'yes' : null],
    ['attempts', policy.attemptsMax ?? null],
    ['timeout', policy.timeoutMs === undefined ? null : formatDuration(policy.timeoutMs)],
    ['priority', priority === 0 ? null : priority],
    ['one per type', onePerType ? 'yes' : null],
    ['limit', concurrency],
    ['limit of tasks', taskConcurrency],
    ['limit per key', keyConcurrency],
    ['isolation', isolate],
  ];
  return facts;
}
