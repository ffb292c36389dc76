/** `stint instances`: lists running engines, and commands one to drain or to resume. */
import type { Command } from 'commander';
import type { InstanceCommand } from '../../engine/declare/instance-command.ts';
import { instanceView } from '../../http/views.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { addActionFlags, addStoreFlags, attribution, withEngine, type CommonFlags } from '../session.ts';

export function instancesCommand(program: Command): void {
  const instances = program.command('instances').description('list running engines, and drain or resume one');
  addStoreFlags(
    instances.command('ls').description('list instances with the age of their heartbeat'),
  ).action(list);
  addActionFlags(
    instances.command('drain <id>').description('let an instance claim no more jobs; running jobs continue'),
  ).action(order('drain'));
  addActionFlags(instances.command('resume <id>').description('let an instance claim jobs again')).action(order('resume'));
}

const list = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const now = engine.now();
    const all = await engine.instances();
    if (options.json) return printJson({ items: all.map((instance) => instanceView(instance, now, engine.instance)) });
    printTable(
      ['ID', 'ALIVE', 'LEADS', 'HEARTBEAT', 'BUSY', 'SLOTS', 'VERSION', 'TYPES'],
      all.map(({ id, beatAt, leaseUntil, about }) => [
        id,
        leaseUntil <= now ? 'no' : about.draining ? 'draining' : 'yes',
        leaseUntil > now && about.leads === true ? 'yes' : null,
        `${Math.round((now - beatAt) / 1000)}s ago`,
        about.busy,
        about.slots,
        about.version,
        about.types.join(', '),
      ]),
    );
  });

const order = (command: InstanceCommand) => (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const order = await engine.order(id, command, attribution(options));
    if (options.json) return printJson({ order });
    printLine(`Asked instance ${id} to ${command}. Follow it: stint instances ls`);
  });
