// GET /runs/{id} reads a run.
import { runState } from 'stint';
import { engine } from '../../../jobs';

export async function GET(_: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return Response.json({ state: runState(await engine.run(Number((await params).id)).get()) });
}
