// Next.js calls this once when a server starts: from then on it executes jobs, beside its pages.
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./start-jobs');
}
