/** Shell completion, made from the commands themselves: what is there can be completed, and nothing else. */
import type { Command } from 'commander';
import { Refusal } from '../refusal.ts';

export type Shell = 'bash' | 'zsh' | 'fish';
export const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];

interface CompletionPoint {
  /** The words that lead here. */
  readonly path: string;
  readonly words: readonly Word[];
}

interface Word {
  readonly text: string;
  readonly says: string;
}

export function completionFor(shell: string, program: Command): string {
  const points = pointsOf(program, '');
  if (shell === 'bash') return bash(points);
  if (shell === 'zsh') return zsh(points);
  if (shell === 'fish') return fish(points);
  throw new Refusal(
    'malformed.option',
    `${shell.slice(0, 40)} is no shell that can be completed: ${shells.join(', ')}`,
    {},
  );
}

function pointsOf(command: Command, path: string): CompletionPoint[] {
  const options = command.options.flatMap(({ long, description }) => (long ? [{ text: long, says: description }] : []));
  const children = command.commands.map((child) => ({ text: child.name(), says: child.description() }));
  const own = { path, words: [...children, ...options, { text: '--help', says: 'what there is' }] };
  const below = command.commands.flatMap((child) => pointsOf(child, `${path} ${child.name()}`.trim()));
  return [own, ...below];
}

const texts = ({ words }: CompletionPoint): string => words.map(({ text }) => text).join(' ');

/** The words before the cursor that are no options, which is how the places are named. */
const bash = (points: readonly CompletionPoint[]): string => `# stint completion bash >> ~/.bashrc
_stint() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in
${steps(points, (path) => `      "${led(path)}") path="${path}" ;;`)}
    esac
  done
  case "$path" in
${points.map((point) => `    "${point.path}") COMPREPLY=($(compgen -W "${texts(point)}" -- "$cur")) ;;`).join('\n')}
  esac
}
complete -o default -F _stint stint
`;

const quoted = (text: string): string => `'${text.replaceAll(`'`, `'\\''`)}'`;

const zsh = (points: readonly CompletionPoint[]): string => `#compdef stint
# stint completion zsh > "\${fpath[1]}/_stint"
_stint() {
  local place="" word
  local -a found
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$place $word" in
${steps(points, (path) => `      ${quoted(led(path))}) place=${quoted(path)} ;;`)}
    esac
  done
  case "$place" in
${points.map(({ path, words }) => `    ${quoted(path)}) found=(${words.map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'stint' found || _files
}
compdef _stint stint
`;

const described = ({ text, says }: Word): string => quoted(`${text}:${says.replaceAll(':', ' ')}`);

const steps = (points: readonly CompletionPoint[], line: (path: string) => string): string =>
  points
    .filter(({ path }) => path !== '')
    .map(({ path }) => line(path))
    .join('\n');

/** How a place is reached: the place before it, a blank, the word. */
const led = (path: string): string => (path.includes(' ') ? path : ` ${path}`);

const fish = (points: readonly CompletionPoint[]): string => {
  const lines = points.flatMap(({ path, words }) =>
    words.map(({ text, says }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${text}`;
      return `complete -c stint -n ${quoted(`__stint_at ${path}`.trim())} ${what} -d ${quoted(says)}`;
    }),
  );
  return `# stint completion fish > ~/.config/fish/completions/stint.fish
function __stint_at
  set -l known ${points
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join(' ')}
  set -l place
  for word in (commandline -opc)[2..-1]
    contains -- (string join ' ' $place $word) $known; and set place $place $word
  end
  test (string join ' ' $place) = (string join ' ' $argv)
end
${lines.join('\n')}
`;
};
