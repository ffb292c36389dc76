/** The refusal of a request for which a schema or a middleware threw an error that is not a refusal. */
import { isRefusal, Refusal } from '../../refusal.ts';

export function thrownByCode(type: string, error: unknown): Refusal {
  if (isRefusal(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Refusal('malformed.input', `the input of ${type} cannot be checked: ${message}`);
}
