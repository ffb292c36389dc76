/** `stint types show`: the settings of a job type and the schema of its input, from the catalogue. */
import type { TypeDetail } from '../../http/contract.ts';
import { formatDuration } from '../../time/duration.ts';
import { harmless, printJson, printLine, styled } from '../print.ts';
import type { CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

export const showType = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const type = await api.call('getType', { params: { name } });
    if (options.json) return printJson(type);
    const { schema } = type;
    printLine(styled('bold', harmless(name)));
    for (const [label, value] of factsOf(type)) if (value !== null) printLine(`  ${label.padEnd(18)} ${value}`);
    printLine(schema === null ? '  input              any JSON' : '  input              JSON Schema:');
    if (schema !== null) printJson(schema);
  });

const batchText = ({ size, waitMs }: NonNullable<TypeDetail['batch']>): string =>
  waitMs === 0 ? `up to ${size} jobs` : `up to ${size} jobs, gathered for ${formatDuration(waitMs)}`;

const fairnessText = ({ key, weight }: NonNullable<TypeDetail['fairness']>): string =>
  harmless(`by ${key === 'code' ? 'a key that its code computes' : key}, weight ${weight === 'code' ? 'by its code' : weight}`);

const sharesMax = 10;

const sharesText = ({ shares }: TypeDetail): string =>
  harmless(shares.slice(0, sharesMax).map(({ of, key, running, part, fairPart }) =>
    `${key === '' ? 'without a key' : key}: ${running} ${of}, ${percent(part)} (by weight ${percent(fairPart)})`).join('; '));

const percent = (part: number): string => `${Math.round(part * 100)} %`;

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
    ['fairness', type.fairness === null ? null : fairnessText(type.fairness)],
    ['fairness of tasks', type.taskFairness === null ? null : `by ${type.taskFairness}`],
    ['shares', type.shares.length === 0 ? null : sharesText(type)],
    ['isolation', type.isolate],
    ['batch', type.batch === null ? null : batchText(type.batch)],
    ['version', type.version === 1 && type.versions.length < 2 ? null : type.version],
    ['waiting', type.versions.some(({ version }) => version > 1) ? waitingText(type) : null],
    ['old instances', type.oldInstances.length === 0 ? null : oldText(type)],
    ['builds', type.builds.length < 2 ? null : buildsText(type)],
    ['instances', type.instances.length === 0 ? 'none' : type.instances.join(', ')],
  ];
}

const waitingText = ({ versions }: TypeDetail): string =>
  versions.map(({ version, waiting, instances }) =>
    `${waiting} of version ${version}${instances.length === 0 ? ', which no instance knows' : ''}`).join('; ');

const buildsText = ({ builds }: TypeDetail): string =>
  builds.map(({ id, succeeded, failed }) => `${harmless(id)}: ${failed} of ${succeeded + failed} attempts failed`).join('; ');

const oldText = ({ oldInstances, isSafeToStopOld }: TypeDetail): string =>
  `${harmless(oldInstances.join(', '))} (${isSafeToStopOld ? 'safe to stop' : 'needed for open jobs of old versions'})`;
