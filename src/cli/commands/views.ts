/** `stint views`: lists, saves, renames and deletes the saved views of the dashboard. */
import type { Command } from 'commander';
import type { SavedViewView } from '../../http/contract.ts';
import { checkViewPage } from '../../jobs/saved-views.ts';
import { savedViewPages } from '../../model/saved-view.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

const pageNames = savedViewPages.join(', ');

interface SaveFlags extends CommonFlags {
  readonly page: string;
  readonly query: string;
}

export function viewsCommand(program: Command): void {
  const views = program.command('views').description('list and change the saved views of the dashboard');
  addApiFlags(views.command('ls').description('list saved views'))
    .option('--page <page>', `only views of this page: ${pageNames}`)
    .action(list);
  addNamedActionFlags(views.command('save <name>').description('save a view of a list page, for everybody'))
    .requiredOption('--page <page>', `the page of the view: ${pageNames}`)
    .requiredOption('--query <query>', 'the query of the URL of the page, such as search=state%3Afailed')
    .action(save);
  addNamedActionFlags(views.command('rename <name> <new-name>').description('give a saved view another name')).action(rename);
  addNamedActionFlags(views.command('delete <name>').description('delete a saved view')).action(remove);
}

const list = (options: CommonFlags & { readonly page?: string }): Promise<void> =>
  withApi(options, async (api) => {
    const query = options.page === undefined ? {} : { page: checkViewPage(options.page) };
    const { items } = await api.call('listViews', { query });
    if (options.json) return printJson({ items });
    printTable(
      ['NAME', 'PAGE', 'QUERY', 'BY', 'AT'],
      items.map(({ name, page, query: saved, by, at }) => [name, page, saved, by, new Date(at).toISOString()]),
    );
  });

const save = (name: string, options: SaveFlags): Promise<void> =>
  withApi(options, async (api) => {
    const body = { page: checkViewPage(options.page), query: options.query, ...reasonOf(options) };
    return printView(await api.call('saveView', { params: { name }, body }), options, 'Saved');
  });

const rename = (name: string, renamed: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const view = await api.call('renameView', { params: { name }, body: { name: renamed, ...reasonOf(options) } });
    return printView(view, options, 'Renamed');
  });

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => void (await api.call('deleteView', { params: { name }, query: reasonOf(options) })));

function printView(view: SavedViewView, { json }: CommonFlags, done: string): void {
  if (json) return printJson(view);
  printLine(`${done} view ${view.name}: /${view.page}?${view.query}`);
}
