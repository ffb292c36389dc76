// Alerts by mail: sent to a real SMTP server, with TLS, sign-in and retries, and nothing secret is stored.
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AddressInfo } from 'node:net';
import { Engine, jobAlert, jobType, openStore, Refusal, type AlertOptions } from '../../src/index.ts';
import { VirtualClock } from '../../src/testing/index.ts';

const broken = jobType('mail', { retry: { attempts: 1 }, run: () => { throw new Error('the relay is down'); } });

/** What is used of smtp-server, which has no types. */
interface SmtpServer {
  listen(port: number, host: string, onListening: () => void): { address(): AddressInfo };
  close(onClosed: () => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
}
type Callback = (error?: Error | null, session?: object) => void;
const packageName = 'smtp-server';
const { SMTPServer } = (await import(packageName)) as { SMTPServer: new (options: object) => SmtpServer };

interface Session {
  readonly secure: boolean;
  readonly envelope: { readonly mailFrom: { readonly address: string }; readonly rcptTo: readonly { readonly address: string }[] };
}

class MailBox {
  readonly mails: { readonly session: Session; readonly text: string }[] = [];
  readonly signIns: string[] = [];
  /** The replies to the next mails; then 250. */
  readonly replies: number[] = [];
  port = 0;

  async listen(options: object): Promise<this> {
    const server = new SMTPServer({
      logger: false,
      onAuth: ({ username, password }: { username: string; password: string }, _session: unknown, callback: Callback) => {
        this.signIns.push(`${username} ${password}`);
        callback(password === 's3cret' ? null : new Error('wrong password'), { user: username });
      },
      onData: (stream: NodeJS.ReadableStream, session: Session, callback: Callback) => {
        let text = '';
        stream.on('data', (bytes: Buffer) => (text += bytes.toString())).on('end', () => {
          const reply = this.replies.shift();
          if (reply !== undefined) return callback(Object.assign(new Error('not now, ops@example.com'), { responseCode: reply }));
          // The server uses the session again for the next mail.
          this.mails.push({ session: { secure: session.secure, envelope: structuredClone(session.envelope) }, text });
          return callback(null);
        });
      },
      ...options,
    });
    server.on('error', () => {});
    await new Promise<void>((resolve) => this.#listening(server, resolve));
    onTestFinished(() => new Promise((resolve) => server.close(resolve)));
    return this;
  }

  #listening(server: SmtpServer, resolve: () => void): void {
    const listening = server.listen(0, '127.0.0.1', () => {
      this.port = listening.address().port;
      resolve();
    });
  }
}

async function start(to: AlertOptions['to']): Promise<{ engine: Engine; clock: VirtualClock }> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const alerts = [jobAlert('mail-fails', { when: 'failed', to })];
  const engine = new Engine({ store: openStore('memory:', { clock }), clock, types: [broken], alertAllow: ['127.0.0.0/8'], alerts });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  onTestFinished(() => engine.close({ patience: '0s' }));
  return { engine, clock };
}

async function advanceUntil(clock: VirtualClock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const attempts = async (engine: Engine): Promise<number> => (await engine.sentAlerts('mail-fails')).items[0]?.attempts ?? 0;

test('a message goes by mail to all recipients, and is sent again until the server takes it', async () => {
  const box = await new MailBox().listen({ authOptional: true, disabledCommands: ['STARTTLS'] });
  box.replies.push(451, 550);
  const { engine, clock } = await start({
    smtp: `smtp://127.0.0.1:${box.port}?tls=none&from=stint@example.com&to=ops@example.com,dev@example.com`,
  });
  const { id } = await engine.createJobRun(broken);
  await advanceUntil(clock, () => box.mails.length > 0);
  const [{ session: { envelope }, text }] = box.mails as [MailBox['mails'][0]];
  expect([envelope.mailFrom.address, ...envelope.rcptTo.map(({ address }) => address)]).toEqual(['stint@example.com', 'ops@example.com', 'dev@example.com']);
  expect(text).toMatch(/^Subject: Alert mail-fails: 1 failing\r$/m);
  expect(text).toContain(`- type mail is failing (run ${id}): the relay is down`);
  await advanceUntil(clock, async () => (await engine.sentAlerts('mail-fails')).items[0]!.standing === 'succeeded');
  const { items: [sent] } = await engine.sentAlerts('mail-fails');
  expect(text).toMatch(new RegExp(`^Message-ID: <${sent!.run}\\.\\d+\\.\\d+@example\\.com>`, 'm'));
  expect(sent!.attempts).toBe(3);
  expect((await engine.alert('mail-fails')).to).toBe(`smtp 127.0.0.1:${box.port}`);
});

test('a password is sent under TLS only, and is in no error, audit or view', async () => {
  const plain = await new MailBox().listen({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  const { engine, clock } = await start({ smtp: `smtp://ada:s3cret@127.0.0.1:${plain.port}?from=stint@example.com&to=ops@example.com` });
  await engine.createJobRun(broken);
  await advanceUntil(clock, async () => (await attempts(engine)) > 1);
  expect([plain.signIns, plain.mails]).toEqual([[], []]);
  const { items: [sent] } = await engine.sentAlerts('mail-fails');
  expect(sent!.error).toMatch(/^127\.0\.0\.1 did not take the mail: /);
  const shown = JSON.stringify([await engine.sentAlerts('mail-fails'), await engine.alerts(), (await engine.jobs.audited({}, {})).records]);
  expect(shown).not.toMatch(/s3cret|ada/);
});

test('the password comes from the environment if the URL has none, over TLS from the start', async () => {
  vi.stubEnv('STINT_SMTP_PASSWORD', 's3cret');
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const box = await new MailBox().listen({ secure: true });
  const { engine, clock } = await start({ smtp: `smtps://ada@127.0.0.1:${box.port}?from=stint@example.com&to=ops@example.com` });
  await engine.createJobRun(broken);
  await advanceUntil(clock, () => box.mails.length > 0);
  expect(box.signIns).toEqual(['ada s3cret']);
  expect(box.mails[0]!.session.secure).toBe(true);
});

test.each([
  ['no URL', 'mail.example.com'],
  ['another scheme', 'https://mail.example.com?from=a@b.c&to=a@b.c'],
  ['no sender', 'smtps://mail.example.com?to=a@b.c'],
  ['no recipient', 'smtps://mail.example.com?from=a@b.c'],
  ['a recipient with a header in it', `smtps://mail.example.com?from=a@b.c&to=${encodeURIComponent('a@b.c\r\nBcc: x@y.z')}`],
  ['an unknown parameter', 'smtps://mail.example.com?from=a@b.c&to=a@b.c&cc=x@y.z'],
  ['a password without TLS', 'smtp://ada:s3cret@mail.example.com?from=a@b.c&to=a@b.c&tls=none'],
  ['a password that is not percent-encoded', 'smtps://ada:s3cret%@mail.example.com?from=a@b.c&to=a@b.c'],
  ['too many recipients', `smtps://mail.example.com?from=a@b.c&to=${Array(21).fill('a@b.c').join(',')}`],
])('a mail server with %s is refused, without its URL', (_, smtp) => {
  const refusal = ((): unknown => {
    try {
      return jobAlert('a', { when: 'failed', to: { smtp } });
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toBeInstanceOf(Refusal);
  expect((refusal as Refusal).code).toBe('malformed.option');
  expect((refusal as Refusal).message).not.toContain('s3cret');
});
