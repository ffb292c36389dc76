/** The command `stint`: parses the arguments, runs the command, and prints errors. */
import { isRefusal } from '../refusal.ts';
import { harmless, printError, tolerateClosedPipe } from './print.ts';
import { program } from './program.ts';

/** The exit codes: 1 for an unexpected error, 2 for a refusal. `runs watch` exits with 3 if the run did not succeed. */
const exitCodes = { failed: 1, refused: 2 } as const;

tolerateClosedPipe();
try {
  await program().parseAsync(process.argv);
} catch (error) {
  process.exitCode = isRefusal(error) ? exitCodes.refused : exitCodes.failed;
  const message = isRefusal(error)
    ? `${harmless(error.message)} (${error.code})`
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  printError(`stint: ${message}`);
}
