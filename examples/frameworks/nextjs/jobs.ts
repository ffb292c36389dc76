// The jobs of this application, and its one engine: Next.js may load this module once per route.
import { Engine, jobType, typed } from 'stint';

export const welcome = jobType('welcome', {
  input: typed<{ email: string }>(),
  run: ({ input }) => ({ welcomed: input.email }),
});

const shared = globalThis as { stint?: Engine };
export const engine = (shared.stint ??= new Engine({ store: process.env['DATABASE_URL'] ?? 'sqlite:jobs.db', types: [welcome] }));
