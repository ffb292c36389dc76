/** `stint alerts`: lists alerts with their state, creates, edits, deletes and tests them, and shows what was sent. */
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { AlertTo, AlertWhen } from '../../engine/declare/alert.ts';
import type { AlertView, RequestArguments } from '../../http/contract.ts';
import { Refusal } from '../../refusal.ts';
import type { Duration } from '../../time/duration.ts';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled } from '../print.ts';
import { addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { tagsOf } from '../tag-flag.ts';
import { withApi } from '../with-api.ts';

interface AlertFlags extends CommonFlags {
  readonly definition?: string[];
  readonly type?: string[];
  readonly tag?: string[];
  readonly when?: string;
  readonly webhook?: string;
  readonly slack?: string;
  readonly every?: string;
  readonly recovered?: boolean;
  readonly enabled?: boolean;
  readonly reset?: boolean;
}

export function alertsCommand(program: Command): void {
  const alerts = program.command('alerts').description('show, create and test alerts');
  addApiFlags(alerts.command('ls').description('list alerts and their state')).action(list);
  addApiFlags(alerts.command('show <name>').description('show an alert and what is failing')).action(show);
  addAlertFlags(alerts.command('create <name>').description('create an alert that no code declares')).action(create);
  addAlertFlags(alerts.command('edit <name>').description('change settings of an alert; the others stay'))
    .option('--enabled', 'watch again')
    .option('--no-enabled', 'stop watching')
    .option('--reset', 'remove what operators have changed of an alert that code declares')
    .action(edit);
  addNamedActionFlags(alerts.command('delete <name>').description('delete an alert')).action(remove);
  addNamedActionFlags(alerts.command('test <name>').description('let an instance send a test message')).action(test);
  addApiFlags(alerts.command('history <name>').description('list the messages of an alert, newest first'))
    .option('--limit <n>', 'how many', '20')
    .action(history);
}

const addAlertFlags = (command: Command): Command =>
  addNamedActionFlags(command)
    .option('--definition <pattern>', 'watch runs of these definitions (repeatable)', listed)
    .option('--type <pattern>', 'watch runs of these types (repeatable; without it and --definition: all runs)', listed)
    .option('--tag <name=value>', 'watch only runs with this tag (repeatable)', listed)
    .option('--when <condition>', 'failed, failed:3 (times in a row), late:10m or longer:1h')
    .option('--webhook <url>', 'send messages as JSON to this URL; - reads the URL from the standard input')
    .option('--slack <url>', 'send messages to this URL as Slack expects them; - reads the URL from the standard input')
    .option('--every <duration>', 'the shortest time between two messages (default: 1m)')
    .option('--recovered', 'send a message when all is well again (default)')
    .option('--no-recovered', 'send no message when all is well again');

const listed = (value: string, before: string[] = []): string[] => [...before, value];

const list = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items } = await api.call('listAlerts');
    if (options.json) return printJson({ items });
    printTable(
      ['NAME', 'STATE', 'WHEN', 'TO', 'MESSAGES'],
      items.map((alert) => [alert.name, stateOf(alert), alert.when, alert.to, alert.messages]),
    );
  });

const show = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => printAlert(await api.call('getAlert', { params: { name } }), options));

const create = (name: string, options: AlertFlags): Promise<void> =>
  withApi(options, async (api) => {
    const settings = (await settingsOf(options)) as RequestArguments<'createAlert'>['body'];
    return printAlert(await api.call('createAlert', { body: { ...settings, ...reasonOf(options), name } }), options);
  });

const edit = (name: string, options: AlertFlags): Promise<void> =>
  withApi(options, async (api) => {
    const changes = await settingsOf(options);
    const isEmpty = Object.keys(changes).length === 0;
    if (isEmpty !== (options.reset ?? false)) {
      throw new Refusal('malformed.option', isEmpty ? 'nothing to change: give a setting, or --reset' : '--reset takes no settings');
    }
    return printAlert(isEmpty
      ? await api.call('resetAlert', { params: { name }, query: reasonOf(options) })
      : await api.call('editAlert', { params: { name }, body: { ...changes, ...reasonOf(options) } }), options);
  });

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => void (await api.call('deleteAlert', { params: { name }, query: reasonOf(options) })));

const test = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { run } = await api.call('testAlert', { params: { name }, body: reasonOf(options) });
    if (options.json) return printJson({ run });
    printLine(`run ${run} sends a test message; see stint alerts history ${name}`);
  });

const history = (name: string, options: CommonFlags & { readonly limit: string }): Promise<void> =>
  withApi(options, async (api) => {
    const query = { limit: wholeNumber('--limit', options.limit) };
    const { items, next } = await api.call('listAlertMessages', { params: { name }, query });
    if (options.json) return printJson({ items, next });
    printTable(
      ['RUN', 'AT', 'STATE', 'FAILING', 'RECOVERED', 'ABOUT', 'ERROR'],
      items.map(({ run, at, standing, error, message: { isTest, failing, recovered, changes } }) => [
        run, new Date(at).toISOString(), standing, failing, recovered, isTest ? 'test' : changes[0]?.subject ?? '', error,
      ]),
    );
  });

async function settingsOf(flags: AlertFlags): Promise<RequestArguments<'editAlert'>['body']> {
  const { definition, type, tag, when, every, recovered, enabled } = flags;
  const to = await targetOf(flags);
  return {
    ...(definition === undefined ? {} : { definitions: definition }),
    ...(type === undefined ? {} : { types: type }),
    ...(tag === undefined ? {} : { tags: tagsOf(tag) }),
    ...(when === undefined ? {} : { when: whenOf(when) }),
    ...(to === null ? {} : { to }),
    ...(every === undefined ? {} : { every: every as Duration }),
    ...(recovered === undefined ? {} : { recovered }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

async function targetOf({ webhook, slack }: AlertFlags): Promise<AlertTo | null> {
  if (webhook !== undefined && slack !== undefined) throw new Refusal('malformed.option', 'give --webhook or --slack, not both');
  if (webhook !== undefined) return { webhook: await urlOf(webhook) };
  return slack === undefined ? null : { slack: await urlOf(slack) };
}

/** A URL with a secret in it need not appear in the list of processes. */
const urlOf = async (flag: string): Promise<string> => (flag === '-' ? (await readText(process.stdin)).trim() : flag);

function whenOf(text: string): AlertWhen {
  const [kind, value = ''] = text.split(':', 2);
  if (text === 'failed') return 'failed';
  if (kind === 'failed') return { failedInARow: wholeNumber('--when failed', value) };
  if (kind === 'late') return { late: value as Duration };
  if (kind === 'longer') return { longerThan: value as Duration };
  throw new Refusal('malformed.option', `--when takes failed, failed:3, late:10m or longer:1h, not ${text.slice(0, 40)}`, {});
}

const stateOf = ({ enabled, failing }: AlertView): string =>
  (enabled ? (failing === 0 ? 'ok' : `${failing} failing`) : 'disabled');

function printAlert(alert: AlertView, { json }: CommonFlags): void {
  if (json) return printJson(alert);
  const { name, definitions, types, tags, when, to, recovered, every, override, subjects, messages } = alert;
  const watched = [
    ...(definitions.length + types.length === 0 ? ['all runs'] : []),
    ...definitions.map((pattern) => `definition ${pattern}`), ...types.map((pattern) => `type ${pattern}`),
    ...Object.entries(tags).map(([tag, value]) => `tag ${tag}=${value}`),
  ];
  printLine(styled('bold', name));
  printLine(`  state     ${stateOf(alert)}`);
  printLine(`  watches   ${watched.join(', ')}`);
  printLine(`  when      ${when}${recovered ? ', and recovered' : ''}`);
  printLine(`  to        ${to}, at most every ${every}; ${messages} messages so far`);
  if (override) printLine(`  changed   ${override.fields.join(', ')} by ${override.by}${override.why === null ? '' : `: ${override.why}`}`);
  if (subjects.length > 0) printTable(['FAILING', 'SINCE', 'FAILURES'], subjects.map(({ subject, since, failures }) => [subject, new Date(since).toISOString(), failures]));
}
