/** The server process of the Bedrock bench: a SQLite file and a port. */
import { silent } from '../../src/logger.ts';
import { BedrockServer } from '../../src/bedrock/server.ts';
import { Jobs } from '../../src/jobs.ts';
import { openStore } from '../../src/open/store.ts';
import { systemClock } from '../../src/time/clock.ts';

const store = openStore(`sqlite:${process.argv[2]!}`);
await store.migrate();
const server = new BedrockServer({ jobs: new Jobs(store), clock: systemClock, logger: silent });
const { port } = await server.listen(0);
process.send!(port);
// Replies to every message with the CPU time of this process so far, in µs.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.once('SIGTERM', () => {
  void server.close().then(() => store.close()).then(() => process.exit(0));
});
