// The order of files: those that take minutes begin, so that none of them is left to run alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const long = [
  'test/sim/', 'test/store/conformance-postgres', 'test/storm/interleave', 'test/mutants/', 'test/package/',
  'test/storm/', 'test/store/conformance-sqlite', 'test/engine/processes/', 'test/engine/isolation', 'test/dashboard/',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    return others.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = long.findIndex((part) => moduleId.includes(part));
  return place === -1 ? long.length : place;
}
