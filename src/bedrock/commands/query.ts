/** QueryJob and Query. */
import type { Refusal } from '../../refusal.ts';
import { isRefusal } from '../../refusal.ts';
import type { BedrockCall, BedrockCommand, Reply } from '../call.ts';
import { isMocked, jobIdOf } from '../parameters.ts';
import { rowsText } from '../rows.ts';
import { StatusError } from '../status.ts';
import { queriedText } from '../view.ts';

export const queryJob: BedrockCommand = {
  run: async ({ headers, services }) => {
    const job = await services.queue.get(jobIdOf(headers));
    if (job === null) throw new StatusError('404 No job with this jobID');
    return { status: '200 OK', body: queriedText(job) };
  },
};

/** Executes read-only SQL over the view `jobs`. */
export const query: BedrockCommand = {
  isLocal: true,
  run: async (call): Promise<Reply> => {
    const { store, inspection } = call.services;
    const sql = sqlOf(call);
    if (store.inspect === undefined) throw new StatusError('405 Query is not available on this store');
    try {
      return { status: '200 OK', body: rowsText(await store.inspect(sql, inspection), call.headers) };
    } catch (error) {
      return replyTo(error, isMocked(call.headers));
    }
  },
};

function sqlOf({ line, headers }: BedrockCall): string {
  const sql = (/^query:(.*)$/is.exec(line)?.[1] ?? headers.get('query') ?? '').trim();
  if (sql === '') throw new StatusError('402 Missing query');
  if (!sql.endsWith(';')) throw new StatusError('502 Query Missing Semicolon');
  return sql;
}

function replyTo(error: unknown, isMock: boolean): Reply {
  if (!isRefusal(error)) throw error;
  const headers = { error: error.message };
  switch (error.code) {
    case 'malformed.query':
      return { status: '402 Bad query', headers, body: messageOf(error) };
    case 'forbidden.query':
      return isMock ? { status: '200 OK' } : { status: '401 Unauthorized', headers };
    case 'costly.query':
      return { status: '502 Query failed', headers };
    default:
      throw error;
  }
}

const messageOf = ({ message }: Refusal): string => `${message}\n`;
