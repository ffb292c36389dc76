// Types that run apart must be exported from a module that does nothing else: their process imports it again.
import { jobType } from 'stint';

/** Never looks up: no signal reaches it. */
export const stubborn = jobType('stubborn', {
  isolate: 'process',
  module: import.meta.url,
  timeout: '10m',
  run: ({ progress }) => {
    progress.startingStage('turning in circles');
    for (;;);
  },
});

export const polite = jobType('polite', {
  run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
});
