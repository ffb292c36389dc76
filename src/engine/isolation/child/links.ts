/** The link of a child to its engine: pipes in a process, a message port in a thread. */
import { createReadStream, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Writable, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { workerData } from 'node:worker_threads';
import type { LogLevel } from '../../handler/job-log.ts';
import { FrameReader, frameOf, pipes } from '../frames.ts';
import { Lines } from '../printout.ts';
import type { ThreadData } from '../host/thread.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';
import { startOrphanWatch } from './orphan-watch.ts';

export interface EngineLink {
  /**
   * Sends a report. Blocks the child while too many earlier reports have not been received, so that a flood of reports
   * cannot fill the memory of the engine.
   */
  readonly report: (report: ChildReport) => void;
  readonly listen: (onCommand: (command: ChildCommand) => void) => void;
  /**
   * Ends the console output of a call. A process prints `mark` after the output, so that the engine knows when it has
   * read all of it. A thread ignores `mark`; if the output does not end with a line end, its last part is sent as a
   * line.
   */
  readonly endOutput: (mark: string) => void;
}

export function processLink(): EngineLink {
  startOrphanWatch();
  // `write` is bound before any handler runs, since a handler may replace `process.stdout.write`.
  const consoles = [process.stdout, process.stderr].map((stream) => ({ stream, print: stream.write.bind(stream) }));
  return {
    report: writeReport,
    listen: readCommands,
    endOutput: (mark) => consoles.forEach(({ stream, print }) => stream.writable && print(`${mark}\n`)),
  };
}

/** Writes synchronously: a full pipe blocks the child, and no report is lost if the process exits afterwards. */
function writeReport(report: ChildReport): void {
  const frame = frameOf(report);
  for (let from = 0; from < frame.length; ) from += writeSync(pipes.reports, frame, from);
}

function readCommands(onCommand: (command: ChildCommand) => void): void {
  const frames = new FrameReader();
  openPipe(pipes.commands).on('data', (piece: Buffer) => {
    for (const command of frames.push(piece)) onCommand(command as ChildCommand);
  });
}

/**
 * Opens a pipe as a socket. Bun cannot open a file descriptor as a socket and uses a file stream. In Node, a file
 * stream would occupy a thread of the pool while it waits for data.
 */
const openPipe = (fd: number): Readable =>
  'bun' in process.versions ? createReadStream('', { fd }) : new Socket({ fd, readable: true, writable: false });

/**
 * How many reports of a thread may be on their way to the engine. At this number the thread blocks until the engine has
 * received some. The message port itself has no limit: it queues messages in the memory of the engine.
 */
const unreceivedMax = 64;

export function threadLink(): EngineLink {
  const { port, received } = workerData as ThreadData;
  let sent = 0;
  const report = (message: ChildReport): void => {
    // Blocks the thread, as a full pipe blocks a process. The received count wraps at 32 bits; `| 0` makes the
    // difference wrap as well.
    let count = Atomics.load(received, 0);
    while (((sent - count) | 0) >= unreceivedMax) {
      Atomics.wait(received, 0, count);
      count = Atomics.load(received, 0);
    }
    sent++;
    port.postMessage(message);
  };
  const consoles = [replaceConsole('stdout', 'info', report), replaceConsole('stderr', 'error', report)];
  return {
    report,
    listen: (onCommand) => void port.on('message', onCommand),
    // A thread needs no mark: its lines are sent as reports, which arrive in order.
    endOutput: () => consoles.forEach((lines) => lines.end()),
  };
}

function replaceConsole(name: 'stdout' | 'stderr', level: LogLevel, report: EngineLink['report']): Lines {
  const lines = new Lines((text) => report({ kind: 'log', level, text }));
  const decoder = new StringDecoder();
  const write: Writable['_write'] = (chunk: string | Buffer, _encoding, done) => {
    lines.push(typeof chunk === 'string' ? chunk : decoder.write(chunk));
    done();
  };
  const value = new Writable({ decodeStrings: false, write });
  Object.defineProperty(process, name, { value, configurable: true, enumerable: true });
  return lines;
}
