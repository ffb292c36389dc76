/**
 * Sends a mail over SMTP, to an allowed address only. The package nodemailer is optional, and loaded when the first mail is
 * sent: sign-in, TLS and MIME are more than a few lines, and most programs send no mail.
 */
import { isIP } from 'node:net';
import type { MailServer } from '../engine/declare/smtp-url.ts';
import { checkedAddress, type RequestRoute } from './guarded-request.ts';

export interface Mail {
  /** The same for each attempt, so that mail servers can recognize a repeated one, and another one for each other mail. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

/** What is used of nodemailer. */
interface Nodemailer {
  createTransport(options: object): { sendMail(mail: object): Promise<unknown>; close(): void };
}

/** The password of mail servers whose URL has a user and no password. */
const passwordVariable = 'STINT_SMTP_PASSWORD';
const packageName = 'nodemailer';

export async function sendMail(
  server: MailServer, { id, subject, text }: Mail, route: Pick<RequestRoute, 'reach' | 'resolve' | 'signal'> & { readonly timeoutMs: number },
): Promise<void> {
  const nodemailer = await loadNodemailer();
  const address = await checkedAddress(server.host, route);
  const transport = nodemailer.createTransport(transportOptions(server, address, route.timeoutMs));
  const abort = (): void => transport.close();
  route.signal.addEventListener('abort', abort, { once: true });
  try {
    const { from, to } = server;
    await transport.sendMail({ from, to, subject, text, messageId: `<${id}@${from.split('@')[1]}>`, headers: { 'auto-submitted': 'auto-generated' } });
  } catch (error) {
    throw route.signal.aborted ? route.signal.reason : new Error(`${server.host} did not take the mail: ${reasonOf(error)}`);
  } finally {
    route.signal.removeEventListener('abort', abort);
    transport.close();
  }
}

/** TLS is required unless the URL says otherwise: a server without it gets neither the password nor the message. */
function transportOptions({ host, port, tls, user, password }: MailServer, address: string, timeoutMs: number): object {
  return {
    host: address,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user === null ? {} : { auth: { user, pass: password ?? process.env[passwordVariable] ?? '' } }),
    ...(isIP(host) === 0 ? { tls: { servername: host } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The code of the error. What the server said is not stored: it may repeat the user. */
function reasonOf(error: unknown): string {
  const { responseCode, code, command } = error as { responseCode?: number; code?: string; command?: string };
  return [code ?? 'failed', ...(responseCode === undefined ? [] : [responseCode]), ...(command === undefined ? [] : [`at ${command}`])].join(' ');
}

async function loadNodemailer(): Promise<Nodemailer> {
  try {
    // Not a literal, because bundlers would require the package.
    const loaded = (await import(packageName)) as { readonly default: Nodemailer };
    return loaded.default;
  } catch {
    throw new Error('cannot send mail: the package nodemailer is not installed beside stint');
  }
}
