// Isolated types must be exported from a module that only defines types: their process imports it again.
import { jobType } from 'stint';

/** An endless loop: it never checks its signal. */
export const stubborn = jobType('stubborn', {
  isolate: 'process',
  module: import.meta.url,
  timeout: '10m',
  run: ({ progress }) => {
    progress.startingStage('looping');
    for (;;);
  },
});

export const polite = jobType('polite', {
  run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
});
