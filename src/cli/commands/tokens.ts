/** `stint tokens`: manages the token file. A running server applies changes within a second. */
import type { Command } from 'commander';
import { Refusal } from '../../refusal.ts';
import { systemClock } from '../../time/clock.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { roles, type Role } from '../../http/contract/words.ts';
import { tokensPathDefault } from '../../http/access/token-path.ts';
import type { TokenRecord } from '../../http/access/tokens.ts';
import { wholeNumber } from '../number-flag.ts';
import { counted, printJson, printLine, printTable, styled, timeCell } from '../print.ts';

interface FileOptions {
  readonly file?: string;
  readonly json?: boolean;
}

interface CreateTokenFlags extends FileOptions {
  readonly role: string;
  readonly expires?: string;
  readonly seesPayloads?: boolean;
  readonly priorityMax?: string;
}

export function tokensCommand(program: Command): void {
  const tokens = program.command('tokens').description('manage access tokens');
  addFileFlags(tokens.command('create <name>').description('create a token and print it once'))
    .requiredOption('--role <role>', `one of ${roles.join(', ')}`)
    .option('--expires <duration>', 'lifetime, such as 90d (default: no expiry)')
    .option('--sees-payloads', 'let a viewer, producer or worker see payloads unredacted')
    .option('--priority-max <n>', 'highest priority that its holder may give (default: the limit of the role)')
    .action(create);
  addFileFlags(tokens.command('ls').description('list tokens, without their secrets')).action(list);
  addFileFlags(
    tokens.command('revoke <name>').description('revoke all tokens with this name or prefix'),
  ).action(revoke);
}

const addFileFlags = (command: Command): Command =>
  command
    .option('--file <path>', `token file (default: STINT_TOKENS, ${tokensPathDefault})`)
    .option('--json', 'print JSON');

async function create(
  name: string,
  { role, expires, seesPayloads, priorityMax, json, ...options }: CreateTokenFlags,
): Promise<void> {
  const { tokensIn, writeTokens } = await import('../../http/access/token-file.ts');
  const { newToken } = await import('../../http/access/tokens.ts');
  const path = pathOf(options);
  const known = tokensIn(path);
  if (known.some((record) => record.name === name)) {
    throw new Refusal('taken.key', `a token named ${name} already exists; revoke it or choose another name`, { name });
  }
  const end = expires === undefined ? null : systemClock.now() + lifetimeMs(expires as Duration);
  const { token, record } = newToken({
    name: checkName(name), role: checkRole(role), created: systemClock.now(), expires: end, seesPayloads,
    priorityMax: priorityMax === undefined ? null : wholeNumber('--priority-max', priorityMax),
  });
  writeTokens(path, [...known, record]);
  if (json) return printJson({ token, ...shown(record) });
  const expiry = end === null ? '' : `, expires ${timeCell(end)}`;
  printLine(styled('dim', `Token for ${name} (${record.role}${expiry}), shown once:`));
  printLine(token);
}

async function list(options: FileOptions): Promise<void> {
  const { tokensIn } = await import('../../http/access/token-file.ts');
  const records = tokensIn(pathOf(options)).map(shown);
  if (options.json) return printJson(records);
  const now = systemClock.now();
  printTable(
    ['NAME', 'ROLE', 'TOKEN', 'CREATED', 'EXPIRES', 'SEES PAYLOADS', 'PRIORITY MAX'],
    records.map((record) => [
      record.name,
      record.role,
      `${record.prefix}…`,
      timeCell(record.created),
      record.expires === null ? 'never' : record.expires > now ? timeCell(record.expires) : 'expired',
      record.seesPayloads ? 'yes' : 'no',
      record.priorityMax ?? 'by role',
    ]),
  );
}

async function revoke(name: string, options: FileOptions): Promise<void> {
  const { tokensIn, writeTokens } = await import('../../http/access/token-file.ts');
  const path = pathOf(options);
  const known = tokensIn(path);
  const remaining = known.filter((record) => record.name !== name && record.prefix !== name);
  const count = known.length - remaining.length;
  if (count === 0) throw new Refusal('malformed.option', `no token has the name or prefix "${name.slice(0, 60)}"`, {});
  writeTokens(path, remaining);
  if (options.json) printJson({ revoked: count });
  else printLine(`Revoked ${counted(count, 'token')}`);
}

function pathOf({ file }: FileOptions): string {
  const source = file ?? process.env['STINT_TOKENS'];
  if (source?.trimStart().startsWith('[')) {
    throw new Refusal('malformed.option', 'STINT_TOKENS contains the tokens themselves; name a file with --file', {});
  }
  return source ?? tokensPathDefault;
}

const shown = ({ hash: _hash, ...rest }: TokenRecord): Omit<TokenRecord, 'hash'> => rest;

function lifetimeMs(expires: Duration): number {
  const lifetime = durationMs(expires);
  if (lifetime > 0) return lifetime;
  throw new Refusal('malformed.duration', '--expires must be longer than zero', {});
}

function checkName(name: string): string {
  if (/^[\w.@-]{1,100}$/.test(name)) return name;
  throw new Refusal('malformed.name', 'a token name may contain letters, digits and . _ @ -', {});
}

function checkRole(role: string): Role {
  const found = roles.find((each) => each === role);
  if (found) return found;
  throw new Refusal('malformed.option', `unknown role "${role.slice(0, 40)}"; use ${roles.join(', ')}`, {});
}
