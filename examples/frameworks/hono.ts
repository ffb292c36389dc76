// Hono: one route creates a run, another reads it, and the dashboard is below /jobs.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { runState } from 'stint';
import { createHttp } from 'stint/server';
import { engine, welcome } from './jobs.ts';

await engine.resume();
const jobs = createHttp({
  engine,
  access: { authenticate: ({ headers }) => (headers.get('cookie') === 'user=ada' ? { name: 'ada', role: 'operator' } : null) },
});

const app = new Hono();
// `mount` removes the prefix. The dashboard's relative URLs need the slash at the end.
app.get('/jobs', (context) => context.redirect('/jobs/', 308));
app.mount('/jobs', (request, env) => jobs.fetch(request, env as never));

app.post('/users', async (context) => {
  const { email } = await context.req.json<{ email: string }>();
  const { id } = await engine.createJobRun(welcome, { input: { email } });
  return context.json({ run: id }, 202);
});

app.get('/runs/:id', async (context) => {
  return context.json({ state: runState(await engine.run(Number(context.req.param('id'))).get()) });
});

const port = Number(process.env['PORT'] ?? 3000);
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log(`http://127.0.0.1:${port}`));

process.once('SIGTERM', () => {
  const answered = new Promise((resolve) => server.close(resolve));
  void jobs.close().then(() => answered).then(() => engine.close());
});
