/** `stint instances`: lists running engines, and commands one to drain or to resume. */
import type { Command } from 'commander';
import type { InstanceCommand } from '../../engine/declare/instance-command.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { addActionFlags, addApiFlags, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

export function instancesCommand(program: Command): void {
  const instances = program.command('instances').description('list running engines, and drain or resume one');
  addApiFlags(
    instances.command('ls').description('list instances with the age of their heartbeat'),
  ).action(list);
  addActionFlags(
    instances.command('drain <id>').description('let an instance claim no more jobs; running jobs continue'),
  ).action(order('drain'));
  addActionFlags(instances.command('resume <id>').description('let an instance claim jobs again')).action(order('resume'));
}

const list = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items } = await api.call('listInstances');
    if (options.json) return printJson({ items });
    const now = api.now();
    printTable(
      ['ID', 'ALIVE', 'LEADS', 'HEARTBEAT', 'BUSY', 'SLOTS', 'VERSION', 'TYPES'],
      items.map(({ id, isAlive, isDraining, isLeader, beatAt, busy, slots, version, types }) => [
        id,
        !isAlive ? 'no' : isDraining ? 'draining' : 'yes',
        isLeader ? 'yes' : null,
        `${Math.max(0, Math.round((now - beatAt) / 1000))}s ago`,
        busy,
        slots,
        version,
        types.join(', '),
      ]),
    );
  });

const order = (command: InstanceCommand) => (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { order } = await api.call(`${command}Instance`, { params: { id }, body: reasonOf(options) });
    if (options.json) return printJson({ order });
    printLine(`Asked instance ${id} to ${command}. Follow it: stint instances ls`);
  });
