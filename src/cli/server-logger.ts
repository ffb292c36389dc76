/** The logger of `stint serve` and `stint work`: readable lines on a terminal, JSON lines otherwise. */
import { styleText } from 'node:util';
import { pino, type DestinationStream } from 'pino';
import { textFirst, type Logger } from '../logger.ts';
import { systemClock } from '../time/clock.ts';
import { harmless, printable, type Style } from './print.ts';

type LogFields = Readonly<Record<string, unknown>>;

export const serverLogger = (): Logger =>
  process.stderr.isTTY ? terminalLogger({ write: (text) => process.stderr.write(text) }) : jsonLogger();

/** Logs JSON lines, to stderr by default. */
export const jsonLogger = (destination: DestinationStream = pino.destination(2)): Logger =>
  textFirst(pino({ name: 'stint', base: { pid: process.pid } }, destination));

const styles = { info: 'dim', warn: 'yellow', error: 'red' } as const satisfies Record<keyof Logger, Style>;

/** Logs lines for people: time, level, text and fields; then the stack of the error, indented. */
export function terminalLogger(destination: Pick<DestinationStream, 'write'>): Logger {
  const log = (level: keyof Logger) => (text: string, { error, ...about }: LogFields = {}): void => {
    const time = new Date(systemClock.now()).toTimeString().slice(0, 8);
    const fields = Object.entries(about).map(([name, value]) => ` ${name}=${textOf(value)}`);
    const line = harmless(`${time} ${level.padEnd(5)} ${text}${fields.join('')}`);
    const stack = error === undefined ? '' : `\n${stackOf(error)}`;
    destination.write(`${styleText(styles[level], `${line}${printable(stack, false)}`, { stream: process.stderr })}\n`);
  };
  return { info: log('info'), warn: log('warn'), error: log('error') };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : (JSON.stringify(value) ?? 'undefined');

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `    ${String(error)}`;
  const own = (error.stack ?? error.message).replace(/^/gm, '    ');
  return error.cause === undefined ? own : `${own}\n    caused by:\n${stackOf(error.cause)}`;
}
