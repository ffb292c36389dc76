/** The link: the engine as a child sees it. */
import type { Order, Report } from '../messages.ts';

export interface Link {
  /** Waits until there is room, so that a flood of reports stops the child and not the engine. */
  readonly report: (report: Report) => void;
  readonly listen: (obey: (order: Order) => void) => void;
  /** Prints the mark behind all that the handler printed. */
  readonly printed: (mark: string) => void;
}
