/** The flag of the commands that resume something that was paused. */
import type { Command } from 'commander';

export const addSpreadFlag = (command: Command): Command => command.option(
  '--spread <duration>', 'let out what piled up evenly over this time, such as 10m (default: all may start at once)',
);
