/** The command `stint`. */
import { isRefusal } from '../refusal.ts';
import { harmless, printError } from './print.ts';
import { program } from './program.ts';

/** What scripts can tell apart: 1 something broke, 2 the request was refused, 3 a watched run did not succeed. */
const exitCodes = { broken: 1, refused: 2 } as const;

try {
  await program().parseAsync(process.argv);
} catch (error) {
  process.exitCode = isRefusal(error) ? exitCodes.refused : exitCodes.broken;
  const message = isRefusal(error)
    ? `${harmless(error.message)} (${error.code})`
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  printError(`stint: ${message}`);
}
