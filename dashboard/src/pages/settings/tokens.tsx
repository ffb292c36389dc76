/** The access tokens, for admins: name, role, expiry and last use. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Failure, Loading } from '../../components/notice.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useResource } from '../../state/resource.ts';
import { now } from '../../state/clock.ts';

type Token = Answer<'listTokens'>['items'][number];

export function Tokens(): JSX.Element {
  const list = useResource((abort) => call('listTokens', {}, abort), []);
  return (
    <section class="card tokens">
      <h2>Tokens</h2>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && (
        <Table<Token> label="Tokens" rows={list.data.items} columns={columns} idOf={({ name }) => name} />
      )}
      <p class="faint">
        Create and revoke tokens with <code>stint tokens</code>. A secret is shown once, when its token is created. Last
        use is recorded since this server started.
      </p>
    </section>
  );
}

const columns: readonly Column<Token>[] = [
  { title: 'Name', class: 'wide', cell: ({ name }) => <span class="strong">{name}</span> },
  { title: 'Role', cell: ({ role }) => role },
  { title: 'Payloads', class: 'minor', cell: ({ seesPayloads }) => (seesPayloads ? 'in full' : 'secrets hidden') },
  { title: 'Priority up to', class: 'number minor', cell: ({ priorityMax }) => priorityMax ?? 'by role' },
  { title: 'Created', class: 'minor', cell: ({ created }) => <Time at={created} /> },
  { title: 'Expires', cell: ({ expires }) => <Expiry expires={expires} /> },
  { title: 'Last used', cell: ({ lastUsed }) => <Time at={lastUsed} /> },
];

function Expiry({ expires }: Pick<Token, 'expires'>): JSX.Element {
  if (expires === null) return <>never</>;
  return expires > now.value ? <Time at={expires} /> : <>expired</>;
}
