// The parts of the proof, in the order in which they run.
import { fuzzing } from '../fuzz/fuzz.ts';
import { storms } from '../storm/storms.ts';
import { mutants } from './mutants.ts';
import type { Part } from './part.ts';
import { postgresSimulation } from './postgres-simulation.ts';
import { simulation } from './simulation.ts';
import { suites } from './suites.ts';

export const parts: readonly Part[] = [simulation, postgresSimulation, mutants, ...storms, ...fuzzing, ...suites];
