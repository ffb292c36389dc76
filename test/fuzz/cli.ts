// Command lines by the commands and options that the program declares, with values that fit and values that do not.
import type { Command, Option } from 'commander';
import fc, { type Arbitrary } from 'fast-check';
import { program } from '../../src/cli/program.ts';
import { Place, type Ended } from '../cli/stint.ts';
import { waitMs } from '../support/patience.ts';
import type { Door, Judged, OpenDoor } from './door.ts';
import { hostileTexts, mostly } from './hostile.ts';

type CliInput = readonly string[];

/**
 * Left out: servers and what follows until it is stopped, what measures, and what writes to a folder that the words name.
 */
const leftOut = /^(?:serve|work|dev|bench|init|backup|top|events|import|doctor)\b|^runs watch/;

const leaves = (command: Command, path: readonly string[]): (readonly [readonly string[], Command])[] =>
  (command.commands.length === 0 ? [[path, command]] : command.commands.flatMap((child) => leaves(child, [...path, child.name()])));

/**
 * No value is a path out of the folder of the test, nor has a NUL, which no command line can have, nor is stored to be
 * printed later like a value that was not meant to be printed.
 */
const harmless = hostileTexts.filter((text) => !/[\0/]|^\.\.|undefined|NaN/.test(text));
const plain = fc.constantFrom(
  '1', '2', '7', 'mail', 'nightly', '{}', '{"a":1}', '1h', '5/1m', '2099-01-01T00:00Z', 'a=b', 'failed', 'pending', 'UTC', '0 0 1 1 *',
);
const value = fc.oneof({ weight: 3, arbitrary: plain }, { weight: 2, arbitrary: fc.constantFrom(...harmless) });

/** They name the store, another server or a file. */
const fixed = new Set(['--store', '--url', '--token', '--file', '--encryption-keys', '--jobs', '--follow', '--help', '--version']);

const wordsOf = (option: Option): Arbitrary<readonly string[]> =>
  (option.required || option.optional ? value.map((given) => [option.long!, given]) : fc.constant([option.long!]));

function linesOf(path: readonly string[], command: Command): Arbitrary<CliInput> {
  const known = command.options.filter(({ long, hidden }) => long !== undefined && !hidden && !fixed.has(long));
  const options = known.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...known.map(wordsOf)), { maxLength: 4 });
  const args = fc.tuple(...command.registeredArguments.map(() => value));
  const surplus = mostly(fc.constant<string[]>([]), fc.array(value, { maxLength: 2 }));
  return fc.tuple(args, options, surplus).map(([given, chosen, more]) => [...path, ...given, ...chosen.flat(), ...more]);
}

const inputs = fc.oneof(...leaves(program(), [])
  .filter(([path]) => !leftOut.test(path.join(' ')))
  .map(([path, command]) => linesOf(path, command)));

export function judge(words: CliInput, { code, out, err }: Ended): string | null {
  if (![0, 2, 3].includes(code ?? -1)) return `exit code ${code}`;
  if (/^\s+at .*:\d+:\d+/m.test(err)) return 'a stack';
  if (/\[object Object\]|\bundefined\b|\bNaN\b/.test(withoutWords(out + err, words))) return 'a value that was not meant to be printed';
  if (code === 2 && !/^stint: \S/m.test(err)) return 'no sentence that says why it is refused';
  if (code === 0 && words.includes('--json') && out !== '' && !isJson(out)) return 'no JSON';
  return null;
}

/** The words of the command may be repeated in its messages. */
const withoutWords = (text: string, words: CliInput): string =>
  words.filter((word) => word !== '').reduce((rest, word) => rest.replaceAll(word, ''), text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text.trimEnd().split('\n').every((line) => line !== text.trimEnd() && isJson(line));
  }
}

class CliDoor implements OpenDoor<CliInput> {
  readonly inputs = inputs;
  readonly #place = new Place();
  readonly #store: readonly string[];

  constructor(store: string) {
    this.#store = ['--store', store];
  }

  /** Runs and a definition, for the commands to find. */
  async prepare(): Promise<void> {
    const created = Array.from({ length: 8 }, () => 'runs create mail');
    const lines = ['migrate', 'defs create nightly --type mail --every 1h', ...created];
    for (const line of lines) {
      const ended = await this.#stint(line.split(' '));
      if (ended?.code !== 0) throw new Error(`stint ${line}: ${ended?.err}`);
    }
  }

  async send(words: CliInput): Promise<Judged> {
    const ended = await this.#stint(words);
    if (ended === null) return { answer: 'none', wrong: 'it does not end' };
    const wrong = judge(words, ended);
    return { answer: `exit ${ended.code}`, wrong: wrong === null ? null : `${wrong}: ${(ended.err + ended.out).slice(0, 800)}` };
  }

  async check(): Promise<readonly string[]> {
    const verified = await this.#stint(['verify']);
    return verified?.code === 0 ? [] : [`stint verify: ${verified?.out}${verified?.err}`];
  }

  async close(): Promise<void> {
    this.#place[Symbol.dispose]();
  }

  async #stint(words: CliInput): Promise<Ended | null> {
    const takesStore = !/^(?:completion|schedule preview|tokens)/.test(words.join(' '));
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => late.resolve(null), waitMs);
    try {
      return await Promise.race([this.#place.stint(...words, ...(takesStore ? this.#store : [])), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

export const cli: Door<CliInput> = {
  name: 'cli',
  async open(store) {
    const door = new CliDoor(store);
    await door.prepare();
    return door;
  },
};
