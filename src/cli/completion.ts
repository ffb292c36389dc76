/** Shell completion, made from the commands themselves: what is there can be completed, and nothing else. */
import type { Command } from 'commander';
import { Refusal } from '../refusal.ts';

export type Shell = 'bash' | 'zsh' | 'fish';
export const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];

interface Place {
  /** The words that lead here. */
  readonly path: string;
  readonly words: readonly Word[];
}

interface Word {
  readonly text: string;
  readonly says: string;
}

export function completionFor(shell: string, program: Command): string {
  const places = placesOf(program, '');
  if (shell === 'bash') return bash(places);
  if (shell === 'zsh') return zsh(places);
  if (shell === 'fish') return fish(places);
  throw new Refusal(
    'malformed.option',
    `${shell.slice(0, 40)} is no shell that can be completed: ${shells.join(', ')}`,
    {},
  );
}

function placesOf(command: Command, path: string): Place[] {
  const options = command.options.flatMap(({ long, description }) => (long ? [{ text: long, says: description }] : []));
  const children = command.commands.map((child) => ({ text: child.name(), says: child.description() }));
  const own = { path, words: [...children, ...options, { text: '--help', says: 'what there is' }] };
  const below = command.commands.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim()));
  return [own, ...below];
}

const texts = ({ words }: Place): string => words.map(({ text }) => text).join(' ');

/** The words before the cursor that are no options, which is how the places are named. */
const bash = (places: readonly Place[]): string => `# stint completion bash >> ~/.bashrc
_stint() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in
${steps(places, (path) => `      "${led(path)}") path="${path}" ;;`)}
    esac
  done
  case "$path" in
${places.map((place) => `    "${place.path}") COMPREPLY=($(compgen -W "${texts(place)}" -- "$cur")) ;;`).join('\n')}
  esac
}
complete -o default -F _stint stint
`;

const quoted = (text: string): string => `'${text.replaceAll(`'`, `'\\''`)}'`;

const zsh = (places: readonly Place[]): string => `#compdef stint
# stint completion zsh > "\${fpath[1]}/_stint"
_stint() {
  local place="" word
  local -a found
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$place $word" in
${steps(places, (path) => `      ${quoted(led(path))}) place=${quoted(path)} ;;`)}
    esac
  done
  case "$place" in
${places.map(({ path, words }) => `    ${quoted(path)}) found=(${words.map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'stint' found || _files
}
compdef _stint stint
`;

const described = ({ text, says }: Word): string => quoted(`${text}:${says.replaceAll(':', ' ')}`);

const steps = (places: readonly Place[], line: (path: string) => string): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => line(path))
    .join('\n');

/** How a place is reached: the place before it, a blank, the word. */
const led = (path: string): string => (path.includes(' ') ? path : ` ${path}`);

const fish = (places: readonly Place[]): string => {
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ text, says }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${text}`;
      return `complete -c stint -n ${quoted(`__stint_at ${path}`.trim())} ${what} -d ${quoted(says)}`;
    }),
  );
  return `# stint completion fish > ~/.config/fish/completions/stint.fish
function __stint_at
  set -l known ${places
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
