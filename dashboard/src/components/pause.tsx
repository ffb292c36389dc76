/** A pause of a job type or key: the banner with the button that resumes it, and the mark and buttons in lists. */
import type { JSX } from 'preact';
import type { PauseView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { number } from '../format.ts';
import { href } from '../router.ts';
import { isOfType, targetText, type Pauses } from '../state/pauses.ts';
import { mayOperate } from '../state/session.ts';
import { Badge } from './badge.tsx';
import { Icon } from './icon.tsx';
import { pauseType } from './pause-type.tsx';
import { askResume, letAllGo } from './resume.tsx';
import { Time } from './time.tsx';

interface BannerProps {
  readonly pause: PauseView;
  readonly onDone: () => void;
}

export function PauseBanner({ pause, onDone }: BannerProps): JSX.Element {
  const { type, key, by, why, since, until, spread } = pause;
  const [who, when, reason] = spread ? [spread.by, spread.from, spread.why] : [by, since, why];
  return (
    <p class="strip-notice" data-status="held" role="status">
      <Icon name="pause" />
      <span>
        {key !== null && <>The key <b>{key}</b> of </>}<a href={href('/types', { name: type })}>{type}</a>{' '}
        {spread ? 'was resumed by' : 'was paused by'} <b>{who}</b> <Time at={when} />{reason !== null && <>: <q>{reason}</q></>}.{' '}
        {spread ? 'What waited starts evenly; the last of it starts' : until !== null && 'It ends'}
        {until === null ? 'It lasts until somebody resumes it.' : <> <Time at={until} />.</>}
      </span>
      {mayOperate.value && <ResumeButton pause={pause} onDone={onDone} />}
    </p>
  );
}

/** Resumes a type or key, or lets go at once of what a spread holds back. */
function ResumeButton({ pause, onDone }: BannerProps): JSX.Element {
  const target = targetText(pause.type, pause.key);
  const [label, action] = pause.spread ? [`Let go of all of ${target}`, 'Let all go'] : [`Resume ${target}`, 'Resume'];
  return (
    <button type="button" class="button" aria-label={label} onClick={() => void resumeType(pause, onDone)}>
      <Icon name="play" /> {action}
    </button>
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
  const { key, until, spread } = pause;
  const { by, why } = spread ?? pause;
  const word = spread ? 'resuming evenly' : 'paused';
  return (
    <span class="pause-mark" title={why ?? undefined!}>
      <Badge status="held" text={key === null ? word : `key ${key} ${word}`} />{' '}
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
    : <ResumeButton pause={pause} onDone={pauses.reload} />;
}

/** Asks how to resume a type or key; if its resume is spread already, whether to let go of the rest at once. */
export async function resumeType({ type, key, spread }: PauseView, onDone: () => void): Promise<void> {
  const target = targetText(type, key);
  const resume = (body: object): Promise<unknown> =>
    call('resumeType', { params: { name: type }, body: { ...body, ...(key === null ? {} : { key }) } });
  if (spread) return letAllGo({ target, resume, onDone });
  askResume({ target, action: key === null ? 'Resume type' : 'Resume key', resume, onDone });
}
