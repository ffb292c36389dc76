// Fastify: hooks start and close the engine with the server, and the dashboard is below /jobs.
import fastify from 'fastify';
import { runState } from 'stint';
import { mountHttp } from 'stint/server';
import { engine, welcome } from './jobs.ts';

const app = fastify();
const jobs = mountHttp({
  engine,
  path: '/jobs',
  access: { authenticate: ({ headers }) => (headers.get('cookie') === 'user=ada' ? { name: 'ada', role: 'operator' } : null) },
});

app.addHook('onReady', () => engine.resume());
// Fastify waits for open responses before `onClose`: the streams of an open dashboard end before that.
app.addHook('preClose', () => jobs.close());
app.addHook('onClose', () => engine.close());
// In `onRequest` no body has been read yet. After `hijack`, the response belongs to the dashboard.
app.addHook('onRequest', async (request, reply) => {
  if (jobs.handle(request.raw, reply.raw)) reply.hijack();
});

app.post<{ Body: { email: string } }>('/users', async ({ body }, reply) => {
  const { id } = await engine.createJobRun(welcome, { input: { email: body.email } });
  return reply.status(202).send({ run: id });
});

app.get<{ Params: { id: string } }>('/runs/:id', async ({ params }) => {
  return { state: runState(await engine.run(Number(params.id)).get()) };
});

console.log(await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' }));
process.once('SIGTERM', () => void app.close());
