/** Notices above the facts of a run: a requested cancel, why it waits, and its error. */
import type { JSX } from 'preact';
import type { Answer, PauseView, RunDetail } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Icon } from '../../components/icon.tsx';
import { PauseBanners } from '../../components/pause.tsx';
import { Time } from '../../components/time.tsx';
import { duration, number } from '../../format.ts';
import { useInterval } from '../../state/live.ts';
import { isInForce } from '../../state/pauses.ts';
import { useResource } from '../../state/resource.ts';
import { runAction } from '../../state/run-actions.ts';
import { mayOperate } from '../../state/session.ts';
import { fullSentence } from './explain-tab.tsx';
import { perform } from './head.tsx';

interface NoticeProps {
  readonly run: RunDetail;
}

interface CancelNoticeProps extends NoticeProps {
  readonly onDone: () => void;
}

const reasonsReloadMs = 5_000;

const afterText = (ms: number): string => (ms <= 0 ? 'at once' : `${duration(ms)} later`);

export function CancelNotice({ run, onDone }: CancelNoticeProps): JSX.Element | null {
  const { cancel } = run;
  if (cancel === null) return null;
  const reason = cancel.why !== null && <>: <q>{cancel.why}</q></>;
  const request = <>Cancel requested by <b>{cancel.by}</b> <Time at={cancel.at} />{reason}.</>;
  if (run.endedAt !== null) {
    return (
      <p class="strip-notice" data-status="cancelled">
        <Icon name="cancelled" />
        <span>{request} It ended {afterText(run.endedAt - cancel.at)}.</span>
      </p>
    );
  }
  return (
    <p class="strip-notice" data-status="cancelling" role="status">
      <Icon name="cancelling" />
      <span>
        {request} Waiting for the handler{run.lease !== null && <> on <b>{run.lease.holder}</b></>} to stop
        {cancel.stopAt !== null && <>; it is stopped by force <Time at={cancel.stopAt} /></>}.
      </span>
      {mayOperate.value && (
        <button
          type="button" class="button" data-kind="danger" onClick={() => void perform(runAction('stop'), run, onDone)}
        >
          Stop now
        </button>
      )}
    </p>
  );
}

export function WaitNotice({ run }: NoticeProps): JSX.Element | null {
  const isWaiting = run.state === 'pending' || (run.state === 'held' && run.hold !== 'children');
  const reasons = useResource(
    async (abort) => (isWaiting ? call('explainRun', { params: { id: run.id } }, abort) : null),
    [run.id, run.version, isWaiting],
  );
  // The stream of the run contains neither pauses nor the other causes of its wait.
  useInterval(() => isWaiting && reasons.reload(), reasonsReloadMs, [isWaiting]);
  const [first, ...rest] = reasons.data?.items ?? [];
  if (!isWaiting || first === undefined) return null;
  const pauses = pausesIn([first, ...rest]);
  return (
    <>
      <PauseBanners pauses={pauses} onDone={reasons.reload} />
      {(pauses.length === 0 || !isPause(first)) && (
        <p class="strip-notice" data-status="held">
          <Icon name="question" />
          <span>
            Why is it not running?{' '}
            {first.code === 'not.due' ? <>It is due <Time at={run.dueAt} />.</> : fullSentence(first.says)}
            {rest.length > 0 && ` ${number(rest.length)} more in the Explain tab.`}
          </span>
        </p>
      )}
    </>
  );
}

type Reason = Answer<'explainRun'>['items'][number];

const isPause = ({ code }: Reason): boolean => code === 'paused.type' || code === 'paused.key';

/** The pauses among the reasons; `detail` of such a reason is the pause. */
const pausesIn = (reasons: readonly Reason[]): readonly PauseView[] => reasons
  .filter(isPause)
  .map(({ detail }) => detail as PauseView)
  .filter(isInForce);

export function ErrorNotice({ run: { error, standing } }: NoticeProps): JSX.Element | null {
  if (error === null || standing === 'succeeded') return null;
  return (
    <section class="error-card" aria-label="Error">
      <p>
        <Icon name="failures" /> {error.code !== 'unknown' && <b>{error.code}: </b>}
        {error.name !== undefined && <b>{error.name}: </b>}<span>{error.message}</span>
        {error.id !== undefined && <> <code>{error.id}</code></>}
      </p>
      {error.causes?.map(({ name, id, message }) => (
        <p>Caused by {name !== undefined && <b>{name}: </b>}<span>{message}</span>{id !== undefined && <> <code>{id}</code></>}</p>
      ))}
      {error.stack !== undefined && <details><summary>Stack trace</summary><pre>{error.stack}</pre></details>}
    </section>
  );
}
