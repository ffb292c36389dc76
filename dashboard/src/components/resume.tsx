/** The dialog that resumes what is paused: at once, or spread over a time. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../problem.ts';
import { TextField } from './field.tsx';
import { confirm } from './dialog.tsx';
import { FormDialog } from './form-dialog.tsx';
import { showToast, withToast } from './toast.tsx';

/** What the user entered; it is the body of the request. */
export interface ResumeBody {
  readonly why?: string;
  readonly spread?: string;
}

interface ResumeRequest {
  /** What is resumed, within a sentence. */
  readonly target: string;
  /** The text of the button, such as "Resume type". */
  readonly action: string;
  readonly resume: (body: ResumeBody) => Promise<unknown>;
  readonly onDone: () => void;
}

const openResume = signal<ResumeRequest | null>(null);

/** Opens the dialog; `onDone` is called after the resume. */
export const askResume = (request: ResumeRequest): void => void (openResume.value = request);

/** Asks whether to let go at once of what a spread holds back. */
export async function letAllGo({ target, resume, onDone }: Omit<ResumeRequest, 'action'>): Promise<void> {
  const text = 'The spread of the resume ends, and instances start all jobs that wait.';
  const body = await confirm({ title: `Let go of all of ${target}?`, text, action: 'Let all go' });
  if (body === null) return;
  await withToast(() => resume(body), () => `Let go of all of ${target}`);
  onDone();
}

/** The dialog, if it is open. The shell renders it once for all pages. */
export function Resume(): JSX.Element | null {
  return openResume.value && <ResumeDialog key={openResume.value.target} {...openResume.value} />;
}

const spreads = ['1m', '10m', '1h'];

function ResumeDialog({ target, action, resume, onDone }: ResumeRequest): JSX.Element {
  const [why, setWhy] = useState('');
  const [spread, setSpread] = useState('');
  const [error, setError] = useState<string | null>(null);
  const close = (): void => void (openResume.value = null);
  const submit = async (): Promise<void> => {
    try {
      await resume({ ...filled('why', why), ...filled('spread', spread) });
      close();
      showToast(`Resumed ${target}`);
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <FormDialog title={`Resume ${target}?`} action={action} onSubmit={submit} onClose={close} error={error}>
      <p class="dialog-text">
        The pause ends, and instances start the jobs that wait: all at once, or evenly over a time. Jobs that become due later
        are not held back.
      </p>
      <TextField label="Reason (optional)" hint="recorded in the history" name="why" value={why} onInput={setWhy} />
      <TextField
        label="Spread over (optional)" hint="a duration such as 10m; empty: at once" name="spread" value={spread}
        onInput={setSpread} suggestions={spreads}
      />
    </FormDialog>
  );
}

const filled = (name: keyof ResumeBody, text: string): ResumeBody => (text.trim() === '' ? {} : { [name]: text.trim() });
