/** The instance command: an operator's command to one instance, as a run of a type that only that instance claims. */
import type { Draft } from '../../jobs/draft.ts';

/** `drain`: stop claiming; `resume`: claim again. */
export type InstanceCommand = 'drain' | 'resume';

export const instanceCommandType = (instance: string): string => `stint.instance/${instance}`;

export const instanceCommandDraft = (instance: string, order: InstanceCommand): Draft => ({
  type: instanceCommandType(instance), input: { order }, policy: { attemptsMax: 1 },
});
