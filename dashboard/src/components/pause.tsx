/** A pause of a job type or key: the banner with the button that resumes it, and the mark and buttons in lists. */
import type { JSX } from 'preact';
import type { PauseView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { number } from '../format.ts';
import { href } from '../router.ts';
import { isOfType, targetText, type Pauses } from '../state/pauses.ts';
import { mayOperate } from '../state/session.ts';
import { Badge } from './badge.tsx';
import { confirm } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { pauseType } from './pause-type.tsx';
import { Time } from './time.tsx';
import { withToast } from './toast.tsx';

interface BannerProps {
  readonly pause: PauseView;
  readonly onDone: () => void;
}

export function PauseBanner({ pause, onDone }: BannerProps): JSX.Element {
  const { type, key, by, why, since, until } = pause;
  return (
    <p class="strip-notice" data-status="held" role="status">
      <Icon name="pause" />
      <span>
        {key !== null && <>The key <b>{key}</b> of </>}<a href={href('/types', { name: type })}>{type}</a> was paused by{' '}
        <b>{by}</b> <Time at={since} />{why !== null && <>: <q>{why}</q></>}.{' '}
        {until === null ? 'It lasts until somebody resumes it.' : <>It ends <Time at={until} />.</>}
      </span>
      {mayOperate.value && (
        <button
          type="button" class="button" aria-label={`Resume ${targetText(type, key)}`}
          onClick={() => void resumeType(pause, onDone)}
        >
          <Icon name="play" /> Resume
        </button>
      )}
    </p>
  );
}

interface BannersProps {
  readonly pauses: readonly PauseView[];
  readonly onDone: () => void;
}

const bannersMax = 4;

/** The banners of several pauses; those beyond the fourth are folded. */
export function PauseBanners({ pauses, onDone }: BannersProps): JSX.Element {
  const banner = (pause: PauseView): JSX.Element =>
    <PauseBanner key={`${pause.type} ${pause.key ?? ''}`} pause={pause} onDone={onDone} />;
  const folded = pauses.slice(bannersMax);
  return (
    <>
      {pauses.slice(0, bannersMax).map(banner)}
      {folded.length > 0 && (
        <details class="more-pauses">
          <summary>{number(folded.length)} more paused</summary>
          {folded.map(banner)}
        </details>
      )}
    </>
  );
}

const marksMax = 2;

/** The marks of a type in a list: what is paused, by whom, why and until when. */
export function PauseMarks({ type, pauses }: { readonly type: string; readonly pauses: Pauses }): JSX.Element {
  const found = pauses.of(type);
  return (
    <>
      {found.slice(0, marksMax).map((pause) => <PauseMark key={pause.key} pause={pause} />)}
      {found.length > marksMax && (
        <a class="pause-mark" href={href('/types', { name: type })}>{number(found.length - marksMax)} more keys paused</a>
      )}
    </>
  );
}

function PauseMark({ pause }: { readonly pause: PauseView }): JSX.Element {
  const { key, by, why, until } = pause;
  return (
    <span class="pause-mark" title={why ?? undefined!}>
      <Badge status="held" text={key === null ? 'paused' : `key ${key} paused`} />{' '}
      <span class="faint">
        {until === null ? 'until resumed' : <>ends <Time at={until} /></>}, by {by}{why !== null && `: ${why}`}
      </span>
    </span>
  );
}

/** The button of a list that pauses a type, or resumes it if the whole type is paused. */
export function PauseButton({ type, pauses }: { readonly type: string; readonly pauses: Pauses }): JSX.Element | null {
  if (!mayOperate.value) return null;
  const pause = pauses.of(type).find(isOfType);
  return pause === undefined
    ? (
      <button
        type="button" class="button" aria-label={`Pause ${type}`} onClick={() => pauseType(type, pauses.reload)}
      >
        <Icon name="pause" /> Pause
      </button>
    )
    : (
      <button
        type="button" class="button" aria-label={`Resume ${type}`} onClick={() => void resumeType(pause, pauses.reload)}
      >
        <Icon name="play" /> Resume
      </button>
    );
}

export async function resumeType({ type, key }: PauseView, onDone: () => void): Promise<void> {
  const target = targetText(type, key);
  const text = 'The pause ends, and instances start the jobs that wait.';
  const reason = await confirm({ title: `Resume ${target}?`, text, action: key === null ? 'Resume type' : 'Resume key' });
  if (reason === null) return;
  const body = { ...reason, ...(key === null ? {} : { key }) };
  await withToast(() => call('resumeType', { params: { name: type }, body }), () => `Resumed ${target}`);
  onDone();
}
