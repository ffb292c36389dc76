/** The id of the job that a change is about. */
import type { Change } from '../../../model/change.ts';

export const idOf = ({ before, after }: Change): number => (before ?? after)!.id;
