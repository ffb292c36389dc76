// The mutants as a part of the proof: the simulator must find each guard that is taken out of the source.
import { availableParallelism } from 'node:os';
import { huntAll } from '../mutants/hunt.ts';
import { mutants as all } from '../mutants/mutants.ts';
import type { Part } from './part.ts';

const processesMax = 4;

export const mutants: Part = {
  name: 'mutants',
  seconds: 170,
  async run({ size, progress }) {
    const request = { seedsMax: size === 'long' ? 40 : 4, chaosMs: 60 * 60_000 };
    let done = 0;
    const caught = await huntAll(all, request, Math.min(processesMax, availableParallelism()), ({ title }) => {
      done += 1;
      progress(done / all.length, title);
    });
    const missed = caught.filter(({ by }) => by === null);
    return {
      figures: { tried: caught.length, caught: caught.length - missed.length },
      findings: missed.map(({ title }) => `no seed found the mutant: ${title}`),
    };
  },
};
