/** `stint runs pause`, `resume` and `edit`: change a run. */
import type { Command } from 'commander';
import type { RunEdit } from '../../engine/run-actions.ts';
import type { Job } from '../../model/job.ts';
import { runView } from '../../http/views.ts';
import { Refusal } from '../../refusal.ts';
import { dueCell, printJson, printLine } from '../print.ts';
import { addDueFlags, dueNamesOf, type DueFlags } from '../run-flags.ts';
import { addActionFlags, attribution, parseId, withEngine, type CommonFlags } from '../session.ts';
import { wholeNumber } from '../number-flag.ts';
import { tagsOf } from '../tag-flag.ts';

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
  withEngine(options, async (engine) => {
    const job = await engine.pauseJobRun(parseId(id), attribution(options));
    return print(job, `Paused run ${job.id}. Resume it: stint runs resume ${job.id}`, options);
  });

const resume = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const job = await engine.resumeJobRun(parseId(id), attribution(options));
    return print(job, `Resumed run ${job.id}`, options);
  });

const edit = (id: string, options: EditFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const job = await engine.editJobRun(parseId(id), editOf(options), attribution(options));
    return print(job, `Changed run ${job.id}: priority ${job.priority}, due ${dueCell(job.due)}`, options);
  });

function editOf({ priority, tag, clearTags = false, ...times }: EditFlags): RunEdit {
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

function print(job: Job, sentence: string, { json }: CommonFlags): void {
  if (json) printJson(runView(job, 'full'));
  else printLine(sentence);
}
