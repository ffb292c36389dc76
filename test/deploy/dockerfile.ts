// The Dockerfile as its checks see it: stages with their instructions.
import { readFileSync } from 'node:fs';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export function readStages(path = 'Dockerfile'): Stage[] {
  const lines = readFileSync(path, 'utf8').replace(/^#.*\n/gm, '').replaceAll('\\\n', ' ').split('\n');
  const instructions = lines.filter((line) => line.trim() !== '').map(instructionOf);
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  return starts.map((start, index) => stageOf(instructions.slice(start, starts[index + 1])));
}

function instructionOf(line: string): Instruction {
  const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
  return { name, text };
}

function stageOf([from, ...instructions]: readonly Instruction[]): Stage {
  const [base = '', , name = ''] = from!.text.split(/\s+/);
  return { name, base, instructions };
}

/** The texts of all instructions of a name. */
export const textsOf = ({ instructions }: Stage, name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ text }) => text);

/** The words of an instruction in its JSON form, which starts no shell. */
export const wordsOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];
