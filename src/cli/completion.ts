/** Shell completion scripts, generated from the commands and their options. */
import type { Command } from 'commander';
import { Refusal } from '../refusal.ts';

type Shell = 'bash' | 'zsh' | 'fish';
export const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];

interface CompletionPoint {
  /** The commands entered before this point, separated by spaces. */
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
    `unknown shell "${shell.slice(0, 40)}"; use ${shells.join(', ')}`,
    {},
  );
}

function pointsOf(command: Command, path: string): CompletionPoint[] {
  const options = command.options.flatMap(({ long, description, hidden }) => (long && !hidden ? [{ text: long, says: description }] : []));
  const children = command.commands.map((child) => ({ text: child.name(), says: child.description() }));
  const own = { path, words: [...children, ...options, { text: '--help', says: 'show help' }] };
  const below = command.commands.flatMap((child) => pointsOf(child, `${path} ${child.name()}`.trim()));
  return [own, ...below];
}

const texts = ({ words }: CompletionPoint): string => words.map(({ text }) => text).join(' ');

/**
 * Returns the bash script. It finds the command in the words before the cursor, and ignores words that are no commands,
 * for example options.
 */
const bash = (points: readonly CompletionPoint[]): string => `# stint completion bash >> ~/.bashrc
_stint() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in
${steps(points, (path) => `      "${entered(path)}") path="${path}" ;;`)}
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
  local entered="" word
  local -a found
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$entered $word" in
${steps(points, (path) => `      ${quoted(entered(path))}) entered=${quoted(path)} ;;`)}
    esac
  done
  case "$entered" in
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

/**
 * Returns the text that the bash and zsh scripts compare when the last command of `path` is entered: the commands so
 * far, a space, and the last command. For the first command, no command precedes the space.
 */
const entered = (path: string): string => (path.includes(' ') ? path : ` ${path}`);

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
  set -l entered
  for word in (commandline -opc)[2..-1]
    contains -- (string join ' ' $entered $word) $known; and set entered $entered $word
  end
  test (string join ' ' $entered) = (string join ' ' $argv)
end
${lines.join('\n')}
`;
};
