/** The process as a host: a child with pipes for commands and reports, at the head of a group of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../time/clock.ts';
import type { HostEnd } from '../../handler/crash.ts';
import { FrameReader, frameOf } from './frames.ts';
import { childEntry, type Host, type HostOptions, type Listener } from './host.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';
import { pipes } from './pipes.ts';
import { Printout } from './printout.ts';
import { settlesWithin } from '../settles-within.ts';

/** For what is still in the pipes of a process that ended: something it started may hold them open. */
const drainMs = 1000;
const hasGroups = process.platform !== 'win32';

export class ProcessHost implements Host {
  readonly mode = 'process';
  readonly gone: Promise<HostEnd>;
  readonly #child: ChildProcess;
  readonly #printout = new Printout((level, text) => this.#listener?.hear({ kind: 'log', level, text }));
  #listener: Listener | null = null;
  #last: HostEnd | null = null;
  #isKilled = false;

  constructor({ clock, memoryMb }: HostOptions) {
    this.#child = spawn(process.execPath, [...inheritedFlags(memoryMb), fileURLToPath(childEntry)], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      // What the handler started ends with its group. On Windows this would open a window.
      detached: hasGroups,
      windowsHide: true,
    });
    this.gone = this.#end(clock);
    this.#connect();
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  listen(listener: Listener | null): void {
    this.#listener = listener;
    if (this.#last) listener?.gone(this.#last);
  }

  send(order: ChildCommand): void {
    const frame = frameOf(order);
    if (order.kind === 'call') this.#printout.expect(order.mark);
    const orders = this.#pipe('commands');
    if (orders?.writable) orders.write(frame);
  }

  heard(): Promise<void> {
    return this.#printout.passed;
  }

  kill(): Promise<HostEnd> {
    this.#isKilled = true;
    this.hold(true);
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#killGroup();
    return this.gone;
  }

  hold(isHeld: boolean): void {
    for (const handle of [this.#child, ...this.#sockets()]) {
      if (isHeld) handle.ref();
      else handle.unref();
    }
  }

  #connect(): void {
    // A broken pipe is told by the end of the child.
    for (const socket of this.#sockets()) socket.on('error', () => {});
    const { stdout, stderr } = this.#child;
    if (stdout) this.#printout.read(stdout, 'info');
    if (stderr) this.#printout.read(stderr, 'error');
    const frames = new FrameReader();
    this.#pipe('reports')?.on('data', (piece: Buffer) => {
      for (const report of frames.push(piece)) this.#listener?.hear(report as ChildReport);
    });
    this.#pipe('life')?.resume();
  }

  async #end(clock: Clock): Promise<HostEnd> {
    const closed = once(this.#child, 'close').catch(() => {});
    const end = await this.#exit();
    this.#killGroup();
    await settlesWithin(clock, drainMs, closed);
    for (const socket of this.#sockets()) socket.destroy();
    this.#last = end;
    this.#listener?.gone(end);
    return end;
  }

  #exit(): Promise<HostEnd> {
    return new Promise((resolve) => {
      this.#child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
      this.#child.on('error', (error) => {
        // Also told when a signal could not be sent; the process still ends then.
        if (this.#child.pid === undefined) resolve({ exitCode: null, signal: null, error });
      });
    });
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(hasGroups ? -pid : pid, 'SIGKILL');
    } catch {
      // Nobody is left.
    }
  }

  #pipe(name: keyof typeof pipes): Socket | null {
    return this.#sockets().length === 0 ? null : ((this.#child.stdio as readonly unknown[])[pipes[name]] as Socket);
  }

  /** None when the process could not be started for want of files. */
  #sockets(): Socket[] {
    const stdio = (this.#child.stdio as ChildProcess['stdio'] | undefined) ?? [];
    return stdio.filter((stream) => stream !== null && stream !== undefined) as Socket[];
  }
}

/** The flags this process was started with, but for those that say what to start or claim a port. */
function inheritedFlags(memoryMb: number | null): string[] {
  const flags = process.execArgv.filter((flag, index, all) => !isOfThisProcess(flag) && !isScript(all[index - 1]));
  return memoryMb === null ? flags : [...flags, `--max-old-space-size=${memoryMb}`];
}

const isScript = (flag: string | undefined): boolean => /^(-e|-p|-pe|--eval|--print)$/.test(flag ?? '');

const isOfThisProcess = (flag: string): boolean =>
  isScript(flag) || /^(-i|-c|--interactive|--check|--(eval|print|input-type|inspect|test|watch)\b.*)$/.test(flag);
