// A preloaded module: applies the cuts of STINT_MUTANT to source files as Node loads them.
import { registerHooks, type LoadFnOutput } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Cut } from './mutants.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cuts = JSON.parse(process.env['STINT_MUTANT'] ?? '[]') as readonly Cut[];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const own = cuts.filter(({ file }) => url.endsWith(`/${file}`) && fileURLToPath(url) === `${root}${file}`);
    return own.length === 0 ? loaded : { ...loaded, source: own.reduce(applied, textOf(loaded.source)) };
  },
});

const textOf = (source: LoadFnOutput['source']): string =>
  typeof source === 'string' ? source : new TextDecoder().decode(source);

function applied(source: string, { file, from, to }: Cut): string {
  const parts = source.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(`cannot apply the mutant: ${file} contains ${JSON.stringify(from)} ${parts.length - 1} times`);
}
