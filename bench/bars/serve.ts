/** A process of `stint serve` on a scratch database, with HTTP and Bedrock on free ports. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/index.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import type { Database, ScratchDatabase } from '../database.ts';
import { storeUrl } from '../workloads/scale-keys.ts';

export interface ServedScratch {
  readonly url: string;
  readonly bedrockPort: number;
  remove(): Promise<void>;
}

/** Creates a scratch database with these jobs, and serves it. */
export async function serveJobs(database: Database, drafts: (now: number) => readonly Draft[]): Promise<ServedScratch> {
  const scratch = await database.createScratch('ours', true);
  await fill(scratch, drafts);
  await scratch.cleanUp();
  const { child, text } = await start(storeUrl(scratch.address));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    url: /HTTP +(\S+)/.exec(text)![1]!,
    bedrockPort: Number(/Bedrock +\S+:(\d+)/.exec(text)![1]),
    remove: async () => {
      child.kill('SIGTERM');
      await ended;
      await scratch.remove();
    },
  };
}

async function fill({ address }: ScratchDatabase, drafts: (now: number) => readonly Draft[]): Promise<void> {
  const store = openStore(storeUrl(address));
  await store.migrate();
  await store.synchronize?.();
  await new Jobs(store).createMany(drafts(store.now()), 'bench');
  await store.close();
}

async function start(store: string): Promise<{ readonly child: ChildProcess; readonly text: string }> {
  const bin = fileURLToPath(new URL('../../bin/stint.js', import.meta.url));
  const args = ['serve', '--store', store, '--http', '127.0.0.1:0', '--bedrock', '127.0.0.1:0'];
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const piece of child.stdout) {
    text += String(piece);
    if (/Bedrock +\S+:\d+/.test(text)) break;
  }
  child.stdout.resume();
  return { child, text };
}
