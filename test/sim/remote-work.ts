// The runs of remote workers: workers over HTTP execute them, and no instance has the code of their type.
import type { HttpHandler } from '../../src/client.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import type { Start } from '../../src/verify.ts';
import type { Clock } from '../../src/time/clock.ts';
import type { RandomStream, RandomStreams } from './random-streams.ts';

export const remoteType = 'remote';

export const drawRemote = (random: RandomStream): readonly Draft[] =>
  Array.from({ length: random.integer(1, 3) }, () => ({ type: remoteType, policy: { attemptsMax: 4, timeoutMs: 60_000, crashesMax: 1_000 } }));

export interface RemoteHandlerParts {
  readonly clock: Clock;
  readonly streams: RandomStreams;
  readonly onStart: (start: Start) => void;
}

export const remoteHandler = ({ clock, streams, onStart }: RemoteHandlerParts): HttpHandler => async ({ id, view: { fence }, signal }) => {
  onStart({ job: id, fence });
  const chance = streams.numberFor('handler', id, fence);
  await clock.sleep(chance * 15_000, signal);
  signal.throwIfAborted();
  if (chance < 0.15) throw new Error('it did not work');
  return chance;
};
