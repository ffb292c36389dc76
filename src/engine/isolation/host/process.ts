/** A process as host: a child process that leads its own process group, with pipes for commands and reports. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../time/clock.ts';
import { settlesWithin } from '../../../time/settles-within.ts';
import type { HostEnd } from '../../handler/crash.ts';
import { FrameReader, frameOf, pipes } from '../frames.ts';
import { Host, type HostOptions } from './host.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';
import { Printout } from '../printout.ts';

/**
 * How long the pipes of an exited process are read; then they are closed. Without this limit, programs that the handler
 * started could hold the pipes open for ever.
 */
const drainMs = 1000;
const hasGroups = process.platform !== 'win32';

export class ProcessHost extends Host {
  readonly mode = 'process';
  readonly #child: ChildProcess;
  readonly #printout = new Printout((level, text) => this.deliver({ kind: 'log', level, text }));

  constructor({ clock, entry, memoryMb }: HostOptions) {
    super();
    this.#child = spawn(process.execPath, [...inheritedFlags(memoryMb), fileURLToPath(entry)], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      // Makes a process group, so that programs that the handler started are killed with its process. On Windows,
      // `detached` makes no group but opens a window.
      detached: hasGroups,
      windowsHide: true,
    });
    void this.#watchEnd(clock);
    this.#connect();
  }

  send(command: ChildCommand): void {
    const frame = frameOf(command);
    if (command.kind === 'call') this.#printout.expect(command.mark);
    const commands = this.#pipe('commands');
    if (commands?.writable) commands.write(frame);
  }

  outputDelivered(): Promise<void> {
    return this.#printout.passed;
  }

  setRef(isReferenced: boolean): void {
    for (const handle of [this.#child, ...this.#sockets()]) {
      if (isReferenced) handle.ref();
      else handle.unref();
    }
  }

  protected terminate(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#killGroup();
  }

  #connect(): void {
    // Errors such as a broken pipe are ignored: they mean that the child has ended, and the event `exit` reports that.
    for (const socket of this.#sockets()) socket.on('error', () => {});
    const { stdout, stderr } = this.#child;
    if (stdout) this.#printout.read(stdout, 'info');
    if (stderr) this.#printout.read(stderr, 'error');
    const frames = new FrameReader();
    this.#pipe('reports')?.on('data', (piece: Buffer) => {
      for (const report of frames.push(piece)) this.deliver(report as ChildReport);
    });
    this.#pipe('life')?.resume();
  }

  async #watchEnd(clock: Clock): Promise<void> {
    const closed = once(this.#child, 'close').catch(() => {});
    const end = await this.#exit();
    this.#killGroup();
    await settlesWithin(clock, drainMs, closed);
    for (const socket of this.#sockets()) socket.destroy();
    this.deliverEnd(end);
  }

  #exit(): Promise<HostEnd> {
    return new Promise((resolve) => {
      this.#child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
      this.#child.on('error', (error) => {
        // If the child has no pid, it could not be started. Node also emits `error` when it cannot send a signal; in
        // that case the child has a pid, and `exit` follows.
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
      // ESRCH: the group has no process left.
    }
  }

  #pipe(name: keyof typeof pipes): Socket | null {
    return this.#sockets().length === 0 ? null : ((this.#child.stdio as readonly unknown[])[pipes[name]] as Socket);
  }

  /** Returns the pipes. Empty: the process could not be started because the limit of open files was reached. */
  #sockets(): Socket[] {
    const stdio = (this.#child.stdio as ChildProcess['stdio'] | undefined) ?? [];
    return stdio.filter((stream) => stream !== null && stream !== undefined) as Socket[];
  }
}

/**
 * Returns the Node flags for a child: the flags of this process and the memory limit. Leaves out inline scripts, the
 * inspector and modes such as `--test`, which are for this process only.
 */
function inheritedFlags(memoryMb: number | null): string[] {
  const flags = withValues(process.execArgv).filter(([flag]) => !isOfThisProcess(flag!)).flat();
  return memoryMb === null ? flags : [...flags, `--max-old-space-size=${memoryMb}`];
}

/** Groups each flag with its value if that is an argument of its own. Such a value never begins with a dash. */
const withValues = (args: readonly string[]): string[][] =>
  args.reduce<string[][]>((groups, arg) => {
    if (arg.startsWith('-')) groups.push([arg]);
    else groups.at(-1)?.push(arg);
    return groups;
  }, []);

const isOfThisProcess = (flag: string): boolean =>
  /^(-e|-p|-pe|-i|-c|--interactive|--check|--(eval|print|input-type|inspect|test|watch)\b.*)$/.test(flag);
