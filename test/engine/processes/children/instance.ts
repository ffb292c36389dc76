// One instance in a process of its own: an engine on the given store, with the job types of the given file.
import { Engine, openStore, type EngineOptions, type Logger } from '../../../../src/index.ts';
import type { Store } from '../../../../src/store/store.ts';
import { tell } from './ledger.ts';

export interface InstanceOptions extends Pick<EngineOptions, 'slots' | 'lease' | 'build' | 'undeclaredDefs'> {
  readonly url: string;
  /** The file beside this one whose `types` and `defs` it knows. */
  readonly jobs: string;
  readonly instance: string;
  /** How long it waits for running work when it is asked to end. */
  readonly patience?: '100ms' | '30s';
  /** Whether it leaves although handlers that ignore their signal still run. */
  readonly isForced?: boolean;
  /** For Node itself. */
  readonly flags?: readonly string[];
  /** Opens the store itself and passes the object. */
  readonly isStoreObject?: boolean;
  /** Keeps to itself what it claims: as if it were killed between the claim and the start. */
  readonly isStunned?: boolean;
}

const given = JSON.parse(process.argv[2]!) as InstanceOptions;
const {
  url, jobs, patience = '30s', flags: _flagsOfNode, isStunned = false, isStoreObject = false, isForced = false, ...options
} = given;
const { types = [], defs = [] } = (await import(`./${jobs}.ts`)) as Pick<EngineOptions, 'types' | 'defs'>;

const line = (level: string) => (text: string, detail: unknown): void => console.error(level, text, detail);
const logger: Logger = { info: line('info'), warn: line('warn'), error: line('error') };
const store = isStunned ? stunned(openStore(url)) : isStoreObject ? openStore(url) : url;
const engine = new Engine({ ...options, store, types, defs, logger });

process.once('SIGTERM', () => void end());
await engine.resume();
tell('ready');

async function end(): Promise<void> {
  tell('closing');
  await engine.close({ patience });
  tell('closed', { peakMb: process.resourceUsage().maxRSS / 1024 });
  if (isForced) process.exit();
}

/** A store whose claims are written but never answered. */
function stunned(real: Store): Store {
  const claim: Store['claim'] = async (ask, decide) => {
    const changes = await real.claim(ask, decide);
    if (changes.length === 0) return changes;
    tell('claimed', { jobs: changes.map(({ after }) => after?.id) });
    return new Promise(() => {});
  };
  return new Proxy(real, {
    get: (target, name) => {
      if (name === 'claim') return claim;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
    },
  });
}
