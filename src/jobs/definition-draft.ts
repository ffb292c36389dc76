/** The draft of a run of a definition: the settings that are in effect, without a tick and a unique key. */
import type { Spec } from '../model/definition.ts';
import type { Draft } from './draft.ts';

export function draftOf(name: string, spec: Spec): Draft {
  return {
    type: spec.type,
    def: name,
    input: spec.params,
    ...(spec.typeVersion === undefined ? {} : { typeVersion: spec.typeVersion }),
    priority: spec.priority,
    phase: spec.phase,
    policy: spec.policy,
    ...(spec.tags === null ? {} : { tags: spec.tags }),
    ...(spec.gate === null ? {} : { gate: spec.gate }),
    ...(spec.limitKey === null ? {} : { limitKey: spec.limitKey }),
    ...(spec.limitUses === undefined ? {} : { limitUses: spec.limitUses }),
  };
}
