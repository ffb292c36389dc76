// One instance of a storm, in a process of its own: an engine with the whole trade.
import { Engine, type EngineOptions, type Logger } from '../../src/index.ts';
import { tell } from '../engine/processes/children/ledger.ts';
import { openOwnTables, type OwnTables } from './own-tables.ts';
import { tradeOf } from './trade.ts';

export interface MemberOptions extends Pick<EngineOptions, 'slots' | 'lease'> {
  readonly url: string;
  readonly instance: string;
}

const { url, ...options } = JSON.parse(process.argv[2]!) as MemberOptions;
const line = (level: string) => (text: string, detail: unknown): void => console.error(level, text, detail);
const logger: Logger = { info: line('info'), warn: line('warn'), error: line('error') };

let tables: OwnTables | undefined;
const trade = tradeOf(() => ({ engine, tables: (tables ??= openOwnTables(url)) }));
const engine = new Engine({ ...options, store: url, ...trade, logger });
await engine.resume();
tell('ready');
console.log('ready');
