/** Milliseconds that all processes of the machine share, whatever runs them. */
export const sharedMs = (): number => performance.timeOrigin + performance.now();
