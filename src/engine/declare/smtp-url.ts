/**
 * The URL of a mail server with the addresses of a mail: `smtps://user:password@mail.example.com?from=…&to=…,…`. `smtps` is TLS
 * from the start (port 465), `smtp` is STARTTLS (port 587); `tls=none`, without a user, is for relays on the same machine.
 */
import { checkText } from '../../jobs/checks/values.ts';
import { Refusal } from '../../refusal.ts';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  /** Null: no sign-in. */
  readonly user: string | null;
  /** Null: the environment has it. */
  readonly password: string | null;
  readonly from: string;
  readonly to: readonly string[];
}

const urlMax = 2_048;
const recipientsMax = 20;
const parameters: readonly string[] = ['from', 'to', 'tls'];
const mailAddress = /^[^\s@<>,;"\p{Cc}]{1,64}@[^\s@<>,;"\p{Cc}]{1,255}$/u;

export const checkSmtpUrl = (text: string): string => (mailServerOf(checkText('the URL of an alert', text, urlMax)), text);

/** The refusals do not contain the URL, because it may contain a password. */
export function mailServerOf(text: string): MailServer {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw malformed('a mail server has a URL such as smtps://user@mail.example.com?from=stint@example.com&to=ops@example.com');
  }
  const given = url.searchParams;
  const unknown = [...given.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined) throw malformed('the URL of a mail server has only the parameters from, to and tls');
  const to = (given.get('to') ?? '').split(',').map((address) => address.trim());
  const isImplicit = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port),
    tls: isImplicit ? 'implicit' : tlsOf(given.get('tls'), url.username !== ''),
    user: url.username === '' ? null : decoded(url.username),
    password: url.password === '' ? null : decoded(url.password),
    from: checkAddress('from', (given.get('from') ?? '').trim()),
    to: (to.length > recipientsMax ? tooMany() : to).map((address) => checkAddress('to', address)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed('the user and the password in the URL of a mail server must be percent-encoded: a % is %25');
  }
}

function tlsOf(text: string | null, hasUser: boolean): MailServer['tls'] {
  if (text === null) return 'starttls';
  if (text !== 'none') throw malformed('the parameter tls of a mail server is none, or absent');
  if (hasUser) throw malformed('a mail server with tls=none must have no user: the password would be readable');
  return 'none';
}

function checkAddress(what: string, address: string): string {
  if (mailAddress.test(address)) return address;
  throw malformed(`the parameter ${what} of a mail server must have mail addresses, such as ops@example.com`);
}

function tooMany(): never {
  throw malformed(`a mail server sends to at most ${recipientsMax} addresses: use a mailing list`);
}

const malformed = (message: string): Refusal => new Refusal('malformed.option', message);
