/** The scheme of a store URL: which adapter opens it. */
import { Refusal } from '../refusal.ts';

export type StoreScheme = 'memory' | 'sqlite' | 'postgres';

const schemes: Readonly<Record<string, StoreScheme>> = {
  memory: 'memory',
  sqlite: 'sqlite',
  file: 'sqlite',
  postgres: 'postgres',
  postgresql: 'postgres',
};

export function schemeOf(url: string): StoreScheme {
  const [, scheme = ''] = /^([a-z]+):/.exec(url) ?? [];
  if (Object.hasOwn(schemes, scheme)) return schemes[scheme]!;
  throw new Refusal('malformed.store', 'a store URL must start with sqlite:, postgres:// or memory:', {
    scheme: scheme.slice(0, 20),
  });
}
