// What a call is refused with.
import { isRefusal, type Refusal } from '../../src/refusal.ts';

export function refusalOf(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
