// The jobs of the servers in this folder: one type, and the engine of the process.
import { Engine, jobType, typed } from 'stint';

export const welcome = jobType('welcome', {
  input: typed<{ email: string }>(),
  run: ({ input, log }) => {
    log.info(`welcome, ${input.email}`);
    return { welcomed: input.email };
  },
});

export const engine = new Engine({ store: process.env['DATABASE_URL'] ?? 'sqlite:jobs.db', types: [welcome] });
