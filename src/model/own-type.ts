/** Stint's own types, such as `stint.bulk`. Their runs act with the rights of Stint, so that no request may create them. */
const ownPrefix = 'stint.';

export const isOwnType = (name: string): boolean => name.startsWith(ownPrefix);
