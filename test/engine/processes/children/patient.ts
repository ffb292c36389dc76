// Handlers that work until the test lets them go, and say what became of them.
import { jobType, type Context } from '../../../../src/index.ts';
import { gate, of, tell } from './ledger.ts';

async function untilGate(context: Context, signal: AbortSignal | undefined): Promise<string> {
  tell('start', of(context));
  try {
    await gate('go', signal);
  } catch (error) {
    tell('aborted', { ...of(context), reason: (error as Error).name });
    throw error;
  }
  tell('done', of(context));
  return 'patience was rewarded';
}

export const patient = jobType('patient', { run: (context) => untilGate(context, context.signal) });

export const stubborn = jobType('stubborn', { run: (context) => untilGate(context, undefined) });

export const endless = jobType('endless', {
  isolate: 'process',
  module: import.meta.url,
  run: (context) => {
    tell('start', of(context));
    for (;;);
  },
});

export const quick = jobType('quick', {
  run: (context) => {
    tell('start', of(context));
    tell('done', of(context));
  },
});

export const types = [patient, stubborn, endless, quick];
