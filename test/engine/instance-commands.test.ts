// Commands to an instance: a command that cannot be executed fails, so that whoever sent it learns why.
import { expect, test } from 'vitest';
import { instanceCommandDraft } from '../../src/engine/declare/instance-command.ts';
import { InstanceCommands } from '../../src/engine/loops/instance-commands.ts';
import { Engine, openStore } from '../../src/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { silent } from '../../src/logger.ts';

test('a command that cannot be executed while the instance is full fails with the error', async () => {
  const jobs = new Jobs(openStore('memory:'));
  const apply = (): Promise<void> => Promise.reject(new Error('the loop does not stop'));
  const commands = new InstanceCommands({ jobs, instance: 'ann', logger: silent, apply });
  const { id } = await jobs.create(instanceCommandDraft('ann', 'drain'), 'operator');
  await commands.turn(false);
  expect(await jobs.get(id)).toMatchObject({ fate: 'failed', error: { message: 'the loop does not stop' } });
});

test('a command that an instance claims with its other jobs and cannot execute fails with the error', async () => {
  class Unstoppable extends Engine {
    override suspend(): Promise<void> {
      return Promise.reject(new Error('the loop does not stop'));
    }
  }
  const engine = new Unstoppable({ store: 'memory:', instance: 'ann' });
  await engine.resume();
  const id = await engine.order('ann', 'drain');
  await expect(engine.run(id).result()).rejects.toThrow('the loop does not stop');
  await engine.close();
});
