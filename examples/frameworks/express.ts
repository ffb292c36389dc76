// Express: one route creates a run, another reads it, and the dashboard is below /jobs.
import express from 'express';
import { runState } from 'stint';
import { mountHttp } from 'stint/server';
import { engine, welcome } from './jobs.ts';

await engine.resume();
const jobs = mountHttp({
  engine,
  path: '/jobs',
  access: { authenticate: ({ headers }) => (headers.get('cookie') === 'user=ada' ? { name: 'ada', role: 'operator' } : null) },
});

const app = express();
// Before express.json(), which would consume the bodies of requests to the dashboard.
app.use((request, response, next) => {
  if (!jobs.handle(request, response)) next();
});
app.use(express.json());

app.post('/users', async (request, response) => {
  const { email } = request.body as { email: string };
  const { id } = await engine.createJobRun(welcome, { input: { email } });
  response.status(202).json({ run: id });
});

app.get('/runs/:id', async (request, response) => {
  response.json({ state: runState(await engine.run(Number(request.params.id)).get()) });
});

const port = Number(process.env['PORT'] ?? 3000);
const server = app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));

// First no more requests and no open dashboard, then no more jobs: close() lets running handlers end.
process.once('SIGTERM', () => {
  const answered = new Promise((resolve) => server.close(resolve));
  void jobs.close().then(() => answered).then(() => engine.close());
});
