// How long tests wait before they take something for hung. No verdict depends on it: on a slow machine waits are
// longer.
export const slowness = Number(process.env['STINT_SLOWNESS'] ?? 1);

/** For one signal: a child's message, a state that is polled for, an element on a page. */
export const waitMs = 120_000 * slowness;

/** For a whole test, and for its hooks. */
export const testMs = 600_000 * slowness;

/** A lease that a living process on this machine can keep, by real time. */
export const realLeaseMs = 2_000 * slowness;
