// The definitions of the Chronos test.
export const defNames = Array.from({ length: 8 }, (_, index) => `second ${index}`);
