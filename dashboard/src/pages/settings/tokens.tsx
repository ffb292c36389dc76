/** The tokens, for admins: who may ask, as what, until when, and whether they still do. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Failure, Loading } from '../../components/notice.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useAnswer } from '../../state/answer.ts';
import { now } from '../../state/clock.ts';

type Token = Answer<'listTokens'>['items'][number];

export function Tokens(): JSX.Element {
  const list = useAnswer((abort) => call('listTokens', {}, abort), []);
  return (
    <section class="card tokens">
      <h2>Tokens</h2>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && (
        <Table<Token> label="Tokens" rows={list.data.items} columns={columns} idOf={({ name }) => name} />
      )}
      <p class="faint">
        They are made and taken back with <code>stint tokens</code>; their secrets are shown once, when they are made. When
        a token was last used is known since this server started.
      </p>
    </section>
  );
}

const columns: readonly Column<Token>[] = [
  { title: 'Name', class: 'wide', cell: ({ name }) => <span class="strong">{name}</span> },
  { title: 'Role', cell: ({ role }) => role },
  { title: 'Payloads', class: 'minor', cell: ({ seesPayloads }) => (seesPayloads ? 'as they are' : 'without secrets') },
  { title: 'Created', class: 'minor', cell: ({ created }) => <Time at={created} /> },
  { title: 'Ends', cell: ({ expires }) => <End expires={expires} /> },
  { title: 'Last used', cell: ({ lastUsed }) => <Time at={lastUsed} /> },
];

function End({ expires }: Pick<Token, 'expires'>): JSX.Element {
  if (expires === null) return <>never</>;
  return expires > now.value ? <Time at={expires} /> : <>is over</>;
}
