/** The engine as a thread sees it: a port for commands and reports, and a console that reports. */
import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { workerData } from 'node:worker_threads';
import type { LogLevel } from '../../handler/job-log.ts';
import { Lines } from '../host/lines.ts';
import type { EngineLink } from './link.ts';
import type { ChildReport } from '../messages.ts';
import type { ThreadData } from '../host/thread.ts';

/** A port takes any number of messages, and they lie in the engine's memory until they are heard. */
const unheardMax = 64;

export function threadLink(): EngineLink {
  const { port, heard } = workerData as ThreadData;
  let sent = 0;
  const report = (message: ChildReport): void => {
    // Waiting stops the whole thread, as a full pipe stops a process.
    for (let known = Atomics.load(heard, 0); ((sent - known) | 0) >= unheardMax; known = Atomics.load(heard, 0)) {
      Atomics.wait(heard, 0, known);
    }
    sent++;
    port.postMessage(message);
  };
  const consoles = [reportConsole('stdout', 'info', report), reportConsole('stderr', 'error', report)];
  return {
    report,
    listen: (handle) => void port.on('message', handle),
    // There is no mark to print: what is printed comes in its order, and only an unended line is kept back.
    printed: () => consoles.forEach((lines) => lines.end()),
  };
}

function reportConsole(name: 'stdout' | 'stderr', level: LogLevel, report: (message: ChildReport) => void): Lines {
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
