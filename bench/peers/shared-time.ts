/** Time in ms with the same origin in all processes of the machine, in Node and Bun. */
export const sharedMs = (): number => performance.timeOrigin + performance.now();
