/** The filter of the list of definitions: its controls, and what they stand for in a request. */
import type { JSX } from 'preact';
import type { RequestArguments } from '../../../../src/http/contract.ts';
import { setFilter } from '../../components/pager.tsx';
import { queryOf } from '../../router.ts';

export type DefListFilter = Omit<NonNullable<RequestArguments<'listDefs'>['query']>, 'after' | 'limit'>;

/** The filter in the URL. Its tag is written as in the search of runs: name=value. */
export function currentFilter(): DefListFilter {
  const [q, type, status, lastOutcome, tag] = [queryOf('q'), queryOf('type'), queryOf('status'), queryOf('outcome'), queryOf('tag')];
  return {
    ...(q === '' ? {} : { q }),
    ...(type === '' ? {} : { type }),
    ...(status === '' ? {} : { status: status as NonNullable<DefListFilter['status']> }),
    ...(lastOutcome === '' ? {} : { lastOutcome: lastOutcome as NonNullable<DefListFilter['lastOutcome']> }),
    ...(tag === '' ? {} : { tag: [tag.replace('=', ':')] }),
  };
}

const statuses = [
  ['', 'Any status'], ['enabled', 'Enabled'], ['disabled', 'Disabled'], ['undeclared', 'Undeclared'],
  ['late', 'Late'],
] as const;
const outcomes = [
  ['', 'Any last run'], ['COMPLETED', 'Last run succeeded'], ['FAILED', 'Last run failed'],
  ['STOPPED', 'Last run cancelled'], ['NOT_STARTED', 'No run ended yet'],
] as const;

export function DefFilters(): JSX.Element {
  return (
    <>
      <input
        class="control" type="search" aria-label="Filter by name" placeholder="Filter by name" value={queryOf('q')}
        onInput={({ currentTarget }) => setFilter({ q: currentTarget.value }, false)}
      />
      <Choice label="Status" name="status" options={statuses} />
      <Choice label="Last run" name="outcome" options={outcomes} />
      <input
        class="control" type="search" aria-label="Filter by tag" placeholder="Tag: team=web" value={queryOf('tag')}
        pattern="[^=]+=.+" title="name=value, such as team=web"
        onChange={({ currentTarget }) => {
          if (currentTarget.reportValidity()) setFilter({ tag: currentTarget.value });
        }}
      />
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [string, string])[];
}

const Choice = ({ label, name, options }: ChoiceProps): JSX.Element => (
  <select
    class="control" aria-label={label} value={queryOf(name)}
    onChange={({ currentTarget }) => setFilter({ [name]: currentTarget.value })}
  >
    {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
  </select>
);
