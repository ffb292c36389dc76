// Shell completion: the scripts are generated from the commands and work in a real shell.
import { execFileSync } from 'node:child_process';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { completionFor, shells } from '../../src/cli/completion.ts';
import { program } from '../../src/cli/program.ts';

/** The completions that bash offers at the end of a line. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const script = `${completionFor('bash', program())}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _stint
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' })
    .split('\n')
    .filter((word) => word !== '');
}

describe('bash completion', () => {
  test.each([
    ['stint ', ['serve', 'runs', 'doctor', 'completion']],
    ['stint r', ['runs']],
    ['stint runs ', ['ls', 'show', 'watch', 'cancel']],
    ['stint runs wa', ['watch']],
    ['stint runs ls --sta', ['--state']],
    ['stint --help runs ca', ['cancel']],
    ['stint serve --allow', ['--allow-exec']],
  ])('offers the matching words after "%s"', (line, expected) => {
    const words = offered(line);
    expect(words).toEqual(expect.arrayContaining(expected));
    const begun = line.split(' ').at(-1)!;
    expect(words.every((word) => word.startsWith(begun))).toBe(true);
  });
});

test.each(shells)('the script for %s contains every command', (shell) => {
  const script = completionFor(shell, program());
  for (const command of program().commands) expect(script).toContain(command.name());
});

test('a description with quotes and substitutions cannot break out of the script', () => {
  const hostile = new Command('stint');
  hostile.command('odd').description(`it's $(touch broken) \`id\``);
  for (const shell of ['zsh', 'fish']) {
    expect(completionFor(shell, hostile)).toContain(`it'\\''s $(touch broken)`);
  }
  expect(completionFor('bash', hostile)).not.toContain('touch');
});

test('an unknown shell is refused with the list of known ones', () => {
  expect(() => completionFor('csh', program())).toThrow('bash, zsh, fish');
});
