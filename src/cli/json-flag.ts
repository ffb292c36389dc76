/** Parses the JSON of command-line options. */
import { parseJson, type Json } from '../model/json.ts';
import { isRefusal, Refusal } from '../refusal.ts';

/** Refuses text that is not JSON, under the name of its option. */
export function jsonFlag(flag: string, text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (isRefusal(error)) throw new Refusal(error.code, `${flag}: ${error.message}`, { ...error.detail, flag });
    throw error;
  }
}
