// POST /users creates a run.
import { engine, welcome } from '../../jobs';

export async function POST(request: Request): Promise<Response> {
  const { email } = (await request.json()) as { email: string };
  const { id } = await engine.createJobRun(welcome, { input: { email } });
  return Response.json({ run: id }, { status: 202 });
}
