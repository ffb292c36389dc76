// The kinds of statements, as far as the simulated server and its lines must know them.

/** Whether a statement changes rows. The function that adds to the inbox does, too. */
export const changesRows = (text: string): boolean => /\b(insert|update|delete|merge)\b|\.enqueue\(/.test(text);

/** Whether its answer says that something has been committed, unless it is a part of a transaction. */
export const mayCommit = (text: string): boolean => text === 'commit' || changesRows(text);
