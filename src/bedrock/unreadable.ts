/** A message that cannot be read: the reason to close the connection. */

export class UnreadableMessage extends Error {
  /** The status of the reply before the connection is closed; null: no reply, because the client is a browser. */
  readonly status: string | null;

  constructor(status: string | null, message: string) {
    super(message);
    this.status = status;
  }
}

export const badRequest = (why: string): UnreadableMessage => new UnreadableMessage('400 Bad Request', why);

export const tooLarge = (): UnreadableMessage =>
  new UnreadableMessage('413 Request too large', 'the request is too large');
