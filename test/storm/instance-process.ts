// One instance of a storm in its own process: an engine with the complete workload.
import { Engine, type EngineOptions, type Logger } from '../../src/index.ts';
import { tell } from '../engine/processes/children/ledger.ts';
import { openOwnTables, type OwnTables } from './own-tables.ts';
import { createWorkload } from './workload.ts';

export interface InstanceOptions extends Pick<EngineOptions, 'slots' | 'lease'> {
  readonly url: string;
  readonly instance: string;
}

const { url, ...options } = JSON.parse(process.argv[2]!) as InstanceOptions;
const log = (level: string) => (text: string, detail: unknown): void => console.error(level, text, detail);
const logger: Logger = { info: log('info'), warn: log('warn'), error: log('error') };

let tables: OwnTables | undefined;
const workload = createWorkload(() => ({ engine, tables: (tables ??= openOwnTables(url)) }));
const engine = new Engine({ ...options, store: url, ...workload, logger });
await engine.resume();
tell('ready');
console.log('ready');
