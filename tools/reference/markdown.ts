/** Markdown: tables and cells, and the line that says that nobody need edit this. */

export const generated = '<!-- Made by `npm run docs` from the code: edit that, not this. -->';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))];
  return lines.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Bars would end a cell, and lines a row. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export const code = (text: string): string => `\`${text}\``;

/** A page with its title, one paragraph and its parts. */
export const page = (title: string, about: string, ...parts: readonly string[]): string =>
  `${[generated, `# ${title}`, oneLine(about), ...parts].join('\n\n')}\n`;

const oneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, ' ');

/** With a capital, unless it begins with something that is written as it is. */
export function sentence(text: string): string {
  const first = /^\w+[:/]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(first) ? first : `${first}.`;
}
