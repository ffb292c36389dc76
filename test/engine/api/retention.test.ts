// The default retention: ended runs are deleted after 30 days, and an operator can read so.
import { expect, test } from 'vitest';
import { runDoctor } from '../../../src/engine/inspect/doctor.ts';
import { Engine, jobType } from '../../../src/index.ts';
import { systemClock } from '../../../src/time/clock.ts';

const plain = jobType('plain', { run: () => null });

test.each([
  { title: 'after 30 days by default', options: {}, ms: 30 * 86_400_000, says: /deleted 30 ?d(ays)? after their end/ },
  { title: 'never with null', options: { retention: null }, ms: null, says: /kept for ever/ },
])('ended runs are deleted $title, and the log, the instance and the doctor say so', async ({ options, ms, says }) => {
  const lines: string[] = [];
  const logger = { info: (text: string) => void lines.push(text), warn: () => {}, error: () => {} };
  await using engine = new Engine({ store: 'memory:', types: [plain], logger, ...options });
  await engine.resume();
  expect(lines.join('\n')).toMatch(says);
  expect((await runDoctor(engine.jobs, systemClock)).map((finding) => finding.says).join('\n')).toMatch(says);
  expect((await engine.instances()).map(({ about }) => about.retentionMs)).toEqual([ms]);
});
