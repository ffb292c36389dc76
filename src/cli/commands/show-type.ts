/** `stint types show`: the settings of a job type and the schema of its input, from the catalogue. */
import type { TypeDetail } from '../../http/contract.ts';
import { typeDetail } from '../../http/type-views.ts';
import { formatDuration } from '../../time/duration.ts';
import { harmless, printJson, printLine, styled } from '../print.ts';
import { withEngine, type CommonFlags } from '../session.ts';

export const showType = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const type = await typeDetail(engine, name);
    if (options.json) return printJson(type);
    const { schema } = type;
    printLine(styled('bold', harmless(name)));
    for (const [label, value] of factsOf(type)) if (value !== null) printLine(`  ${label.padEnd(18)} ${value}`);
    printLine(schema === null ? '  input              any JSON' : '  input              JSON Schema:');
    if (schema !== null) printJson(schema);
  });

function factsOf(type: TypeDetail): [string, string | number | null][] {
  return [
    ['tasks', type.hasTasks ? 'yes' : null],
    ['attempts', type.attempts],
    ['timeout', type.timeoutMs === null ? null : formatDuration(type.timeoutMs)],
    ['priority', type.priority === 0 ? null : type.priority],
    ['one per type', type.onePerType ? 'yes' : null],
    ['limit', type.concurrency],
    ['limit of tasks', type.taskConcurrency],
    ['limit per key', type.keyConcurrency],
    ['isolation', type.isolate],
    ['instances', type.instances.length === 0 ? 'none' : type.instances.join(', ')],
  ];
}
