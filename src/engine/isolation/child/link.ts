/** The link: the engine as a child sees it. */
import type { ChildCommand, ChildReport } from '../messages.ts';

export interface EngineLink {
  /** Waits until there is room, so that a flood of reports stops the child and not the engine. */
  readonly report: (report: ChildReport) => void;
  readonly listen: (handle: (command: ChildCommand) => void) => void;
  /** Prints the mark behind all that the handler printed. */
  readonly printed: (mark: string) => void;
}
