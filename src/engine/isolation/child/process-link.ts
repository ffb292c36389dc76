/**
 * The engine as a process sees it: pipes for commands and reports, and a watch that notices when the engine is gone.
 */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { FrameReader, frameOf } from '../host/frames.ts';
import type { EngineLink } from './link.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';
import { pipes } from '../host/pipes.ts';

export function processLink(): EngineLink {
  startWatch();
  // Taken now: a handler may replace what `process.stdout` does.
  const consoles = [process.stdout, process.stderr].map((stream) => ({ stream, print: stream.write.bind(stream) }));
  return {
    report,
    listen,
    printed: (mark) => consoles.forEach(({ stream, print }) => stream.writable && print(`${mark}\n`)),
  };
}

/** Written at once and to the end: nothing is lost when the process ends next, and a full pipe makes it wait. */
function report(value: ChildReport): void {
  const frame = frameOf(value);
  for (let from = 0; from < frame.length; ) from += writeSync(pipes.reports, frame, from);
}

function listen(handle: (command: ChildCommand) => void): void {
  const frames = new FrameReader();
  const commands = new Socket({ fd: pipes.commands, readable: true, writable: false });
  commands.on('data', (piece: Buffer) => {
    for (const command of frames.push(piece)) handle(command as ChildCommand);
  });
}

function startWatch(): void {
  const entry = new URL(`./orphan-watch${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  new Worker(entry, { name: 'stint orphan watch', execArgv: [] }).unref();
}
