/** Which entrants are ours. */
import type { Entrant } from './entrant.ts';

export const isOurs = ({ peer }: Entrant): boolean => peer === 'ours';
export const isOurEngine = (entrant: Entrant): boolean => isOurs(entrant) && entrant.name.startsWith('Stint engine');
