// A worker over HTTP gets the answer to a claim after its lease, for example because its process was paused.
import { expect, onTestFinished, test } from 'vitest';
import { Client, HttpWorker } from '../../src/client.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';

const leaseMs = 30_000;
const job = { id: 7, type: 'mail', fence: 1, timeoutMs: null };

/** A worker whose first claim is answered after `answerMs`. `beat`: the status of the answers to heartbeats. */
function scene({ answerMs, beat = 200, isCancelled = false }: { answerMs: number; beat?: number; isCancelled?: boolean }) {
  const clock = new VirtualClock(0);
  const [started, requests]: [number[], string[]] = [[], []];
  let claims = 0;
  const answer = (status: number, body: object): Response => new Response(JSON.stringify(body), { status });
  const send = async (url: string, signal: AbortSignal): Promise<Response> => {
    const route = url.split('/').at(-1)!;
    requests.push(route);
    if (route === 'heartbeat') return answer(beat, { isCancelled, cancel: null, code: 'lost.lease' });
    if (route !== 'claim') return answer(200, {});
    claims += 1;
    if (claims > 1) return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    await clock.sleep(answerMs);
    return answer(200, { items: [job] });
  };
  const client = new Client({ url: 'http://test', clock, fetch: ((url: string, init: RequestInit) => send(url, init.signal!)) as typeof fetch });
  const handlers = { mail: async () => void started.push(clock.monotonic()) };
  const worker = new HttpWorker(client, { handlers, leaseMs, clock, onError: () => {} });
  const running = worker.run();
  onTestFinished(async () => {
    const stopped = worker.stop();
    await clock.advance(60_000);
    await Promise.all([stopped, running]);
  });
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await turn();
  };
  return { pass, started, requests };
}

test('a job starts at once if its claim was answered in time', async () => {
  const { pass, started, requests } = scene({ answerMs: 10_000 });
  await pass(10_001);
  expect(started).toEqual([10_000]);
  expect(requests).not.toContain('heartbeat');
});

test('a job whose claim was answered after its lease does not start if another worker has it', async () => {
  const { pass, started, requests } = scene({ answerMs: 40_000, beat: 409 });
  await pass(60_000);
  expect(started).toEqual([]);
  expect(requests).toEqual(['claim', 'heartbeat', 'claim']);
});

test('a job whose claim was answered late starts when a heartbeat has confirmed it', async () => {
  const { pass, started, requests } = scene({ answerMs: 25_000 });
  await pass(25_001);
  expect(started).toEqual([25_000]);
  expect(requests).toEqual(['claim', 'heartbeat', 'complete', 'claim']);
});

test('a job that was cancelled before its late answer fails without a start', async () => {
  const { pass, started, requests } = scene({ answerMs: 25_000, isCancelled: true });
  await pass(25_001);
  expect(started).toEqual([]);
  expect(requests).toEqual(['claim', 'heartbeat', 'fail', 'claim']);
});
