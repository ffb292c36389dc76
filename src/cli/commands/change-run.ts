/** `stint runs pause`, `resume` and `edit`: change a run. */
import type { Command } from 'commander';
import type { RequestArguments } from '../../http/contract.ts';
import { Refusal } from '../../refusal.ts';
import { dueCell } from '../print.ts';
import { addDueFlags, dueNamesOf, type DueFlags } from '../run-flags.ts';
import { addActionFlags, parseId, reasonOf, type CommonFlags } from '../session.ts';
import { wholeNumber } from '../number-flag.ts';
import { tagsOf } from '../tag-flag.ts';
import { printRun } from '../print-run.ts';
import { withApi } from '../with-api.ts';

interface EditFlags extends CommonFlags, DueFlags {
  readonly priority?: string;
  readonly tag?: string[];
  readonly clearTags?: boolean;
}

export function changeCommands(runs: Command): void {
  addActionFlags(runs.command('pause <id>').description('keep a pending run from starting')).action(pause);
  addActionFlags(runs.command('resume <id>').description('let a paused run start again')).action(resume);
  addDueFlags(addActionFlags(runs.command('edit <id>').description('change the due time, priority or tags of a run')))
    .option('--priority <n>', 'runs with a higher priority start first')
    .option('--tag <name=value...>', 'tags of the run, which replace all others')
    .option('--clear-tags', 'remove all its tags')
    .action(edit);
}

const pause = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const run = await api.call('pauseRun', { params: { id: parseId(id) }, body: reasonOf(options) });
    return printRun(run, `Paused run ${run.id}. Resume it: stint runs resume ${run.id}`, options);
  });

const resume = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const run = await api.call('resumeRun', { params: { id: parseId(id) }, body: reasonOf(options) });
    return printRun(run, `Resumed run ${run.id}`, options);
  });

const edit = (id: string, options: EditFlags): Promise<void> =>
  withApi(options, async (api) => {
    const run = await api.call('editRun', { params: { id: parseId(id) }, body: { ...editOf(options), ...reasonOf(options) } });
    return printRun(run, `Changed run ${run.id}: priority ${run.priority}, due ${dueCell(run.dueAt)}`, options);
  });

function editOf({ priority, tag, clearTags = false, ...times }: EditFlags): RequestArguments<'editRun'>['body'] {
  if (tag !== undefined && clearTags) {
    throw new Refusal('malformed.option', 'use only one of --tag and --clear-tags', {});
  }
  const edit = {
    ...(priority === undefined ? {} : { priority: wholeNumber('--priority', priority) }),
    ...dueNamesOf(times),
    ...(tag === undefined ? {} : { tags: tagsOf(tag) }),
    ...(clearTags ? { tags: null } : {}),
  };
  if (Object.keys(edit).length > 0) return edit;
  throw new Refusal('malformed.option', 'nothing to change: use --due, --priority, --tag or --clear-tags', {});
}
