/** The header `Retry-After` of an HTTP response: a number of seconds, or a date. */

/** Returns the requested wait in ms; null: the header is absent or invalid. */
export function retryAfterMs(header: string | null | undefined, now: number): number | null {
  if (header == null) return null;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : new Date(header).getTime() - now;
  return Number.isFinite(ms) ? Math.max(ms, 0) : null;
}
