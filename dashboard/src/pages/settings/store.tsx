/** The health of the store: its size, connections, oldest transaction, and live and dead rows. */
import type { JSX } from 'preact';
import type { StoreView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Failure, Loading } from '../../components/notice.tsx';
import { bytes, duration, number } from '../../format.ts';
import { useInterval } from '../../state/live.ts';
import { useResource } from '../../state/resource.ts';

const reloadMs = 10_000;

export function Store(): JSX.Element {
  const loaded = useResource((abort) => call('storeHealth', {}, abort), []);
  useInterval(loaded.reload, reloadMs);
  return (
    <section class="card" aria-label="Store">
      <h2>Store</h2>
      {loaded.error !== null && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data === null ? loaded.error === null && <Loading /> : <StoreFacts store={loaded.data} />}
    </section>
  );
}

/** Shows the figures that the store reports, and omits the others. */
function StoreFacts({ store }: { readonly store: StoreView }): JSX.Element {
  const { pool, connections } = store;
  return (
    <dl class="facts">
      {store.bytes !== null && <><dt>Size</dt><dd>{bytes(store.bytes)}</dd></>}
      {store.logBytes !== null && <><dt>Write-ahead log</dt><dd>{bytes(store.logBytes)}</dd></>}
      {store.oldestTransactionMs !== null && (
        <><dt>Oldest transaction</dt><dd>{duration(store.oldestTransactionMs)}</dd></>
      )}
      {pool !== null && (
        <>
          <dt>Pool of this server</dt>
          <dd>{number(pool.open - pool.idle)} of {number(pool.max)} in use, {number(pool.waiting)} waiting</dd>
        </>
      )}
      {connections !== null && (
        <><dt>Connections</dt><dd>{number(connections.open)} of {number(connections.max)}</dd></>
      )}
      {store.parts.map(({ name, live, dead }) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{number(live)} live, {number(dead)} dead</dd>
        </>
      ))}
    </dl>
  );
}
