/** The shares of a type with fairness: the part of each key in the running jobs, beside the part of its weight. */
import type { JSX } from 'preact';
import type { TypeDetail } from '../../../../src/http/contract.ts';
import { Table, type Column } from '../../components/table.tsx';
import { number } from '../../format.ts';

type Share = TypeDetail['shares'][number];

export function Shares({ type: { fairness, taskFairness, shares } }: { readonly type: TypeDetail }): JSX.Element | null {
  if (fairness === null && taskFairness === null) return null;
  return (
    <section class="card" aria-label="Shares">
      <h2>Shares of running jobs</h2>
      {shares.length === 0
        ? <p class="faint">Nothing is running.</p>
        : <Table<Share> label="Shares" rows={shares} columns={columns} idOf={({ of, key }) => `${of} ${key}`} />}
    </section>
  );
}

const percent = (part: number): string => `${Math.round(part * 100)} %`;

const columns: readonly Column<Share>[] = [
  { title: 'Key', class: 'wide', cell: ({ key }) => (key === '' ? <span class="faint">without a key</span> : key) },
  { title: 'Of', cell: ({ of }) => of },
  { title: 'Weight', class: 'number', cell: ({ weight }) => number(weight) },
  { title: 'Running', class: 'number', cell: ({ running }) => number(running) },
  { title: 'Share', class: 'number', cell: ({ part }) => percent(part) },
  { title: 'By weight', class: 'number', cell: ({ fairPart }) => percent(fairPart) },
];
