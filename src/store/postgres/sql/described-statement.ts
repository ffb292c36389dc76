/**
 * Described statements: a connection that has answered a prepared statement knows the columns of its rows. It executes
 * the statement again by one message, which asks for no description, and reads the rows by functions chosen once.
 *
 * Saves (bench/LEDGER.md, "a statement that a connection has described is executed by one message"): a copy of the
 * query, four buffers of which `writev` makes a packet, and the description of the rows, which the server writes and the
 * driver parses for each execution.
 * Applies to statements that the same connection has prepared and answered before, with parameters that are texts or numbers.
 * Without it the driver executes the statement.
 */
import type { Duplex } from 'node:stream';
import pg from 'pg';

/** The format of a statement's rows: the name of each column, and the function that reads its values. */
interface RowFormat {
  /** A row without values. Copies of it have all columns at once: adding them one by one would make five lists per row. */
  readonly empty: Readonly<Record<string, null>>;
  readonly names: readonly string[];
  readonly readers: readonly ((text: string) => unknown)[];
}

type RowList = Record<string, unknown>[];

type Callback = (error: Error | null, rows?: RowList) => void;

export class DescribedStatements {
  readonly #types: pg.CustomTypesConfig;
  readonly #formats = new WeakMap<pg.ClientBase, Map<string, RowFormat>>();

  constructor(types: pg.CustomTypesConfig) {
    this.#types = types;
  }

  /** Records the format of the rows of a statement that a connection has answered. */
  record(client: pg.ClientBase, name: string, fields: readonly pg.FieldDef[]): void {
    const formats = this.#formats.get(client) ?? new Map<string, RowFormat>();
    this.#formats.set(client, formats);
    if (formats.has(name)) return;
    const readerOf = ({ dataTypeID }: pg.FieldDef) => this.#types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown;
    const names = fields.map((field) => field.name);
    formats.set(name, { empty: Object.fromEntries(names.map((column) => [column, null])), names, readers: fields.map(readerOf) });
  }

  /** Executes a statement; undefined: its format or the texts of its parameters are not known. */
  execute(client: pg.ClientBase, name: string, values: readonly unknown[]): Promise<RowList> | undefined {
    const format = this.#formats.get(client)?.get(name);
    if (format === undefined || !values.every(hasPlainText)) return undefined;
    return new Promise((resolve, reject) => {
      const answer: Callback = (error, rows) => (error ? reject(error) : resolve(rows!));
      client.query(new DescribedQuery(messageOf(name, values), format, answer) as unknown as pg.Query);
    });
  }
}

type PlainValue = string | number | null | undefined;

const hasPlainText = (value: unknown): value is PlainValue =>
  typeof value === 'string' || typeof value === 'number' || value === null || value === undefined;

/**
 * A class with the handlers of the driver's queries, which its types do not declare, and without its constructor, which
 * makes an event emitter and a result that are not used here.
 */
const DriverQuery = function () {} as unknown as new () => object;
DriverQuery.prototype = pg.Query.prototype;

/** The driver accepts a query with other messages only if it is a `pg.Query`. It calls the handlers below. */
class DescribedQuery extends DriverQuery {
  /**
   * Called once, also by the handler of errors that this class inherits. With a `query_timeout`, the driver replaces it
   * by a function that also stops a timer, which otherwise destroys the connection.
   */
  callback: Callback;
  readonly #message: Buffer;
  readonly #format: RowFormat;
  readonly #rows: RowList = [];
  #error: Error | undefined;

  constructor(message: Buffer, format: RowFormat, callback: Callback) {
    super();
    this.#message = message;
    this.#format = format;
    this.callback = callback;
  }

  submit({ stream }: { readonly stream: Duplex }): void {
    if (stream.writable) stream.write(this.#message);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(rowOf(this.#format, fields));
    } catch (error) {
      this.#error ??= error as Error;
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#error) this.callback(this.#error);
    else this.callback(null, this.#rows);
  }
}

function rowOf({ empty, names, readers }: RowFormat, fields: readonly (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = { ...empty };
  for (let index = 0; index < names.length; index++) {
    const text = fields[index]!;
    if (text !== null) row[names[index]!] = readers[index]!(text);
  }
  return row;
}

const [bind, execute, sync] = [0x42, 0x45, 0x53];

/** The messages Bind, Execute and Sync. All parameters and results are texts, for which no format is named. */
function messageOf(name: string, values: readonly unknown[]): Buffer {
  const texts = values.map((value) => (value == null ? null : String(value as string | number)));
  const lengths = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)));
  const bindLength = lengths.reduce((sum, length) => sum + 4 + Math.max(0, length), 4 + 1 + name.length + 1 + 2 + 2 + 2);
  const message = Buffer.allocUnsafe(1 + bindLength + 10 + 5);
  message[0] = bind!;
  let at = message.writeInt32BE(bindLength, 1);
  message[at++] = 0; // the unnamed portal
  at += message.write(name, at, 'latin1');
  message[at++] = 0;
  at = message.writeInt16BE(0, at);
  at = message.writeInt16BE(texts.length, at);
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!;
    at = message.writeInt32BE(lengths[index]!, at);
    if (text !== null) at += message.write(text, at);
  }
  at = message.writeInt16BE(0, at);
  message[at++] = execute!;
  at = message.writeInt32BE(9, at);
  message[at++] = 0;
  at = message.writeInt32BE(0, at);
  message[at++] = sync!;
  message.writeInt32BE(4, at);
  return message;
}
