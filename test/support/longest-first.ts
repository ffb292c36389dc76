// The order of test files: the longest begin, so that none of them is left to run alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { Durations } from './durations.ts';

export class LongestFirst extends BaseSequencer {
  readonly #durations = new Durations();

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => this.#durations.of(b.moduleId) - this.#durations.of(a.moduleId));
  }
}
