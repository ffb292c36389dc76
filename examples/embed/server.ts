// Your own server, with the dashboard below /jobs for users that are signed in.
import { createServer } from 'node:http';
import { Engine, every, jobDef, jobType } from 'stint';
import { mountHttp } from 'stint/server';

const sweep = jobType('sweep', { run: ({ log }) => log.info('swept') });
const engine = new Engine({
  store: 'sqlite:.stint/embed.db',
  defs: [jobDef('sweep every minute', sweep, { schedules: every('1m') })],
});
await engine.resume();

const jobs = mountHttp({
  engine,
  path: '/jobs',
  // Check your own session here. Null denies access.
  access: {
    authenticate: ({ headers }) => (headers.get('cookie') === 'user=ada' ? { name: 'ada', role: 'operator' } : null),
  },
});

const server = createServer((request, response) => {
  if (jobs.handle(request, response)) return;
  response.setHeader('set-cookie', 'user=ada; HttpOnly; SameSite=Strict; Path=/');
  response.setHeader('content-type', 'text/html');
  response.end('<h1>A shop</h1><p>You are signed in as Ada. <a href="/jobs/">Jobs</a>');
});

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
    void jobs.close().then(() => engine.close());
  });
}
