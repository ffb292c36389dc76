/** The saved views of the list of runs, and the button that saves the current search. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { href } from '../../router.ts';
import { termsOf } from '../../search.ts';
import { deleteView, savedViews, saveView } from '../../state/saved-views.ts';

export function SavedViews({ search }: { readonly search: string }): JSX.Element {
  const [isNaming, setNaming] = useState(false);
  const isSaved = savedViews.value.some((view) => view.search === search);
  return (
    <div class="views">
      {savedViews.value.map((view) => (
        <span class="view-chip" key={view.name} data-current={view.search === search}>
          <a href={href('/runs', { search: view.search })}>{view.name}</a>
          <button type="button" aria-label={`Delete view ${view.name}`} onClick={() => deleteView(view.name)}>
            <Icon name="close" />
          </button>
        </span>
      ))}
      {termsOf(search).length > 0 && !isSaved && !isNaming && (
        <button type="button" class="link" onClick={() => setNaming(true)}>Save view</button>
      )}
      {isNaming && <NameForm search={search} onDone={() => setNaming(false)} />}
    </div>
  );
}

interface NameFormProps {
  readonly search: string;
  readonly onDone: () => void;
}

function NameForm({ search, onDone }: NameFormProps): JSX.Element {
  const [name, setName] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const save = (): void => {
    if (name.trim() !== '') saveView({ name: name.trim(), search });
    onDone();
  };
  return (
    <form
      class="view-name"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <input
        ref={field} class="control" aria-label="Name of the view" placeholder="Name, then Enter" value={name}
        maxLength={40} onInput={({ currentTarget }) => setName(currentTarget.value)} onBlur={save}
      />
    </form>
  );
}
