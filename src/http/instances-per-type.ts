/** Groups instances by job type: each type with the instances that have its code. */
import type { Instance } from '../store/store.ts';

export function instancesPerType(instances: readonly Instance[]): ReadonlyMap<string, readonly Instance[]> {
  const perType = new Map<string, Instance[]>();
  for (const instance of instances) {
    for (const type of new Set(instance.about.types)) {
      const known = perType.get(type);
      if (known) known.push(instance);
      else perType.set(type, [instance]);
    }
  }
  return perType;
}
