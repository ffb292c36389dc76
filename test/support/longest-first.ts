// The order of test files: the longest begin, so that none of them is left to run alone at the end. Files that share
// processes come last: a process is kept only while the next file in the queue can use it.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { Durations } from './durations.ts';

export class LongestFirst extends BaseSequencer {
  readonly #durations = new Durations();

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification): number => this.#durations.of(moduleId);
    return files.toSorted((a, b) => rankOf(a) - rankOf(b) || seconds(b) - seconds(a));
  }
}

const rankOf = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1);
