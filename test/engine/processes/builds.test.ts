// A rolling deploy with real processes: the newest living build declares, and old code leaves new inputs to new code.
import { describe, expect, test } from 'vitest';
import { detail } from '../../support/detail.ts';
import { kindsOf } from './histories.ts';
import { storeKindsOfRun, World } from './world.ts';

const hourOf = async ({ engine }: World): Promise<string | undefined> => {
  const [schedule] = (await engine.definition('daily')).spec.schedules;
  return schedule?.kind === 'cron' ? schedule.text.split(' ')[1] : undefined;
};

const timeoutOf = async ({ engine }: World, def: string): Promise<number | undefined> =>
  (await (await engine.createNamed({ def }, {})).get()).policy.timeoutMs;

describe.each(storeKindsOfRun)('on $name', (kind) => {
  describe.concurrent('builds', () => {
    test('an old process that restarts changes no declaration while a newer build lives, and does after its end', async () => {
      await using world = await World.create(kind);
      const first = await world.start('deployed', 'old-1', { build: 'old' });
      await world.engine.define('made by hand', 'plain', {});
      expect([await hourOf(world), await timeoutOf(world, 'made by hand')]).toEqual(['1', 60_000]);

      const newer = await world.start('deployed', 'new-1', { build: 'new' });
      expect(await hourOf(world)).toBe('2');
      // The engine of the test has read the type before; it reads it again after a while.
      await world.until('the type of the new build', async () => (await timeoutOf(world, 'made by hand')) === 120_000);

      await first.end('SIGTERM');
      await world.start('deployed', 'old-2', { build: 'old' });
      expect([await hourOf(world), await timeoutOf(world, 'made by hand')]).toEqual(['2', 120_000]);

      await newer.end('SIGKILL');
      await world.until('the old build to declare again', async () => (await hourOf(world)) === '1');
      await world.until('the type of the old build', async () => (await timeoutOf(world, 'made by hand')) === 60_000);
    });

    detail('a definition that the new code no longer declares ticks while the old process lives, and is then stopped', async () => {
      await using world = await World.create(kind);
      const old = await world.start('deployed', 'old-1', { build: 'old' });
      await world.start('deployed', 'new-1', { build: 'new', undeclaredDefs: 'stop' });
      const runs = async (): Promise<number> => (await world.engine.find({ def: 'dropped', kinds: ['run'] })).jobs.length;
      await world.until('a tick', async () => (await runs()) > 0);
      expect((await world.engine.definition('dropped')).isUndeclared).toBe(false);

      await old.end('SIGKILL');
      await world.until('its end', async () => !(await world.engine.definition('dropped')).isEnabled);
      expect(await world.engine.definition('dropped')).toMatchObject({ isUndeclared: true, isEnabled: false });
      expect(await world.engine.definition('daily')).toMatchObject({ isUndeclared: false, isEnabled: true });
    });

    detail('an old process leaves an input that it does not know to the new one, and fails it only without one', async () => {
      await using world = await World.create(kind);
      await world.start('deployed', 'old-1', { build: 'old' });
      const newer = await world.start('deployed', 'new-1', { build: 'new', slots: 1 });
      await world.engine.createNamed({ type: 'busy' }, {});
      await world.entry({ what: 'busy', instance: 'new-1' });
      const run = await world.engine.createNamed({ type: 'versioned' }, { input: { b: 1 } });
      await world.until('the old process to release it', async () => (await kindsOf(run)).includes('released'));
      world.open('go');
      await run.result();
      expect(world.entries({ what: 'versioned' })).toMatchObject([{ job: run.id, instance: 'new-1', attempt: 1 }]);

      const { id } = await world.engine.createNamed({ type: 'versioned' }, { input: { b: 2 }, delay: '1h' });
      await newer.end('SIGTERM');
      await world.engine.editJobRun(id, { due: world.engine.now() });
      const failed = await world.until('the old process to fail it', async () => {
        const job = await world.engine.get(id);
        return job.state === 'ended' ? job : null;
      });
      expect(failed).toMatchObject({ fate: 'failed', error: { code: 'could not start' } });
    });
  });
});
