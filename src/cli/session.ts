/**
 * The session of one command: its common flags, and an engine that executes no jobs. The store is closed when the
 * command has ended.
 */
import type { Command } from 'commander';
import { userInfo } from 'node:os';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import type { Engine } from '../open.ts';
import { storeUrl, urlVariable } from '../open/store-url.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { codecOf } from './encryption-keys.ts';
import { openStore } from './open-store.ts';

export interface CommonFlags {
  readonly store?: string;
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
  readonly encryptionKeys?: string;
  readonly why?: string;
  readonly by?: string;
}

export const storeFlagText =
  'database: sqlite:FILE or postgres://… (default: STINT_DATABASE_URL, DATABASE_URL, .stint/jobs.db)';

export const encryptionFlagText =
  'JSON file with the keys of stored payloads: current and keys (default: STINT_ENCRYPTION_KEYS, a file or its JSON)';

export const addStoreFlags = (command: Command): Command =>
  command
    .option('--store <url>', storeFlagText)
    .option('--encryption-keys <file>', encryptionFlagText)
    .option('--json', 'print JSON');

/** The flags of a command that can also ask a server. */
export const addApiFlags = (command: Command): Command =>
  addStoreFlags(command)
    .option('--url <url>', 'server to ask instead of a database, such as http://127.0.0.1:7070 (default: STINT_URL)')
    .option('--token <token>', 'with --url: access token; safer in STINT_TOKEN, which no list of processes shows');

export interface Server {
  readonly url: string;
  readonly token: string | undefined;
}

/** The server that the command asks; null: it works on a database. Flags count before variables. */
export function serverOf({ url: given, token: flag, store, encryptionKeys }: CommonFlags): Server | null {
  if (given !== undefined && store !== undefined) throw refusedFlag('use only one of --url and --store');
  const url = given ?? (store === undefined ? variable('STINT_URL') : undefined);
  if (url === undefined) {
    if (flag !== undefined) throw refusedFlag('--token needs --url');
    return null;
  }
  if (encryptionKeys !== undefined) throw refusedFlag('--encryption-keys needs --store: a server has its own keys');
  return { url: checkServerUrl(url), token: checkToken(flag ?? variable('STINT_TOKEN')) };
}

function checkServerUrl(text: string): string {
  const url = URL.parse(text);
  if (!/^https?:$/.test(url?.protocol ?? '')) throw refusedFlag('--url must begin with http:// or https://');
  if (url!.username + url!.password === '') return text;
  throw refusedFlag('--url must have no user and no password: give an access token in STINT_TOKEN');
}

/** Checked here, because the refusal of a header by `fetch` contains the token. */
function checkToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw refusedFlag('the access token has a character that no token has, such as a space or a line break');
}

/**
 * Refuses a server for a command that needs the database. A variable that names a server is refused, too, if the command
 * opens a database that nobody has named: it would not be the one of that server.
 */
export function refuseServer(command: Command): void {
  const { url, store } = command.opts<CommonFlags>();
  const has = (flag: string): boolean => command.options.some(({ long }) => long === flag);
  const opensStore = has('--store');
  // `serve` and `work`, which print no JSON, run an engine for that server or beside it.
  const isAsked = opensStore && has('--json');
  const isServerNamed = variable('STINT_URL') !== undefined && isAsked && store === undefined && urlVariable() === undefined;
  if (url === undefined && !isServerNamed) return;
  const where = opensStore ? 'the database: run it where the database can be reached, with --store' : 'this machine';
  throw new Refusal('needs.database', `stint ${pathOf(command)} works on ${where}, not through a server`, {});
}

const pathOf = (command: Command): string =>
  (command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name());

/** An empty variable counts as not set. */
const variable = (name: string): string | undefined => process.env[name] || undefined;

const refusedFlag = (message: string): Refusal => new Refusal('malformed.option', message, {});

export const addActionFlags = (command: Command): Command =>
  addReasonFlag(addApiFlags(command));

export const addReasonFlag = (command: Command): Command =>
  command.option('--why <reason>', 'reason, recorded in the history');

/** The flags of an action that may be performed for somebody else, as by a CI job. */
export const addNamedActionFlags = (command: Command): Command =>
  addNameFlag(addActionFlags(command)).hook('preAction', (_program, called) => {
    const flags = called.opts<CommonFlags>();
    if (flags.by === undefined || serverOf(flags) === null) return;
    throw refusedFlag('--by needs --store: a server records the name of the token');
  });

export const addNameFlag = (command: Command): Command =>
  command.option('--by <name>', 'who acts, recorded in the history (default: cli and your user name)');

/** `types` are the job types whose code the command has. */
export async function withEngine<T>(
  { store: url, encryptionKeys }: CommonFlags,
  work: (engine: Engine) => Promise<T>,
  types: readonly AnyJobType[] = [],
): Promise<T> {
  const codec = await codecOf(encryptionKeys);
  const store = await openCurrent(storeUrl(url));
  try {
    const { Engine } = await import('../open.ts');
    return await work(new Engine({ store, types, instance: actor(), ...(codec === null ? {} : { codec }) }));
  } finally {
    await store.close();
  }
}

/**
 * Opens a store; refuses it if its schema is not the one that this version of Stint needs. Only `migrate`, `serve` and
 * `work` create or migrate a store.
 */
export async function openCurrent(url: string): Promise<Store> {
  const store = await openStore(url, { create: false });
  try {
    await requireCurrentSchema(store);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function requireCurrentSchema(store: Store): Promise<void> {
  const { from, to } = await store.migrate({ dryRun: true });
  if (from === to) return;
  const found = from === 0 ? 'has no tables of Stint' : `has schema ${from}, this version of Stint needs ${to}`;
  throw new Refusal('older.schema', `the database ${found}: run stint migrate`, { found: from, needed: to });
}

/** The name under which the events and audit records of this user are stored. */
export const actor = (): string => `cli ${userName()}`;

/** The reason for an act, as a part of a request. */
export const reasonOf = ({ why }: CommonFlags): { why?: string } => (why === undefined ? {} : { why });

export const attribution = ({ why, by = actor() }: CommonFlags) => ({ by, ...(why === undefined ? {} : { why }) });

export function parseId(text: string): number {
  const id = Number(text);
  if (/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(id)) return id;
  throw new Refusal('malformed.id', `invalid job id "${text.slice(0, 40)}"; ids are positive integers`, {});
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
