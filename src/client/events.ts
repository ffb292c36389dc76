/** Reads server-sent events from the body of a response. */

export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
  /** The last event id received on this connection. A new connection can resume after it. Null: none was received. */
  readonly lastId: string | null;
}

/** Yields the events of a body that have data. Calls `onId` with the id of every event, even of one without data. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onId: (id: string) => void,
): AsyncGenerator<ServerEvent> {
  let lastId: string | null = null;
  for await (const block of blocks(body)) {
    const { id, event = 'message', data } = fieldsOf(block);
    if (id !== undefined) onId((lastId = id));
    if (data !== undefined) yield { event, data: JSON.parse(data), lastId };
  }
}

async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const whole = text.split('\n\n');
    text = whole.pop()!;
    yield* whole;
  }
}

function fieldsOf(block: string): { id?: string; event?: string; data?: string } {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields[name] = name in fields ? `${fields[name]}\n${value}` : value!;
  }
  return fields;
}
