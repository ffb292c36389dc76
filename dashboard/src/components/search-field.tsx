/** The search field of the top bar, with suggestions for qualifiers, values and run numbers. */
import { signal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { currentUrl, go, queryOf } from '../router.ts';
import { qualifiers, runIdOf } from '../search.ts';
import { readStored, writeStored } from '../state/preferences.ts';
import { standings } from '../state/run-status.ts';
import { Icon } from './icon.tsx';

interface Suggestion {
  /** The text of the field after the user has accepted the suggestion. */
  readonly text: string;
  readonly shown: string;
  readonly hint: string;
  /** The run that the suggestion opens instead of a search. */
  readonly run?: number;
}

const typeNames = signal<readonly string[]>([]);
const defNames = signal<readonly string[]>([]);
const recentMax = 6;
const shownMax = 9;

export function SearchField(): JSX.Element {
  const field = useSearchField();
  const { input, text, index, suggestions, submit, accept } = field;
  return (
    <form
      class="search" role="search"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Icon name="search" />
      <input
        ref={input} id="search" type="text" role="combobox" aria-label="Search runs"
        aria-expanded={suggestions.length > 0} aria-controls="search-list" aria-autocomplete="list" autocomplete="off"
        spellcheck={false} value={text} aria-activedescendant={index >= 0 ? `search-${index}` : undefined!}
        placeholder="Search runs: 1234, state:failed type:mail*"
        onFocus={field.onFocus} onBlur={field.onBlur} onKeyDown={field.onKeyDown}
        onInput={({ currentTarget }) => field.onInput(currentTarget.value)}
      />
      <kbd>/</kbd>
      <Suggestions suggestions={suggestions} index={index} onAccept={accept} />
    </form>
  );
}

interface SuggestionsProps {
  readonly suggestions: readonly Suggestion[];
  readonly index: number;
  readonly onAccept: (suggestion: Suggestion) => void;
}

function Suggestions({ suggestions, index, onAccept }: SuggestionsProps): JSX.Element {
  return (
    <ul id="search-list" class="suggestions" role="listbox" aria-label="Suggestions" hidden={suggestions.length === 0}>
      {suggestions.map((suggestion, at) => (
        <li
          key={suggestion.shown} id={`search-${at}`} role="option" aria-selected={at === index}
          onPointerDown={(event) => {
            event.preventDefault();
            onAccept(suggestion);
          }}
        >
          <b>{suggestion.shown}</b> <span>{suggestion.hint}</span>
        </li>
      ))}
    </ul>
  );
}

interface SearchFieldState {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly text: string;
  /** The index of the highlighted suggestion; -1: none. */
  readonly index: number;
  readonly suggestions: readonly Suggestion[];
  readonly submit: () => void;
  readonly accept: (suggestion: Suggestion) => void;
  readonly onFocus: () => void;
  readonly onBlur: () => void;
  readonly onInput: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function useSearchField(): SearchFieldState {
  const input = useRef<HTMLInputElement>(null);
  const current = currentUrl.value.path === '/runs' ? queryOf('search') : '';
  const [text, setText] = useState(current);
  const [isOpen, setOpen] = useState(false);
  const [index, setIndex] = useState(-1);
  useEffect(() => setText(current), [current]);
  const suggestions = isOpen ? suggest(text) : [];

  const close = (shown: string): void => {
    setOpen(false);
    setIndex(-1);
    setText(shown);
    input.current?.blur();
  };
  const openRun = (id: number): void => {
    close('');
    go(`/runs/${id}`);
  };
  const search = (searched: string): void => {
    close(searched);
    if (searched.trim() !== '') rememberSearch(searched.trim());
    go('/runs', { search: searched.trim() });
  };
  const accept = (suggestion: Suggestion): void => {
    if (suggestion.run !== undefined) openRun(suggestion.run);
    else if (/[:.]$/.test(suggestion.text)) {
      setText(suggestion.text);
      setIndex(-1);
      input.current?.focus();
    } else search(suggestion.text);
  };
  return {
    input, text, index, suggestions, accept,
    submit: () => {
      const [suggestion, id] = [suggestions[index], runIdOf(text)];
      if (suggestion !== undefined) accept(suggestion);
      else if (id !== null) openRun(id);
      else search(text);
    },
    onFocus: () => {
      setOpen(true);
      void loadNames();
    },
    onBlur: () => setOpen(false),
    onInput: (typed) => {
      setText(typed);
      setIndex(-1);
      setOpen(true);
    },
    onKeyDown: (event) => {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (event.key === 'Escape') close(text);
      else if (event.key === 'Tab' && suggestions[index] !== undefined) {
        event.preventDefault();
        setText(suggestions[index].text);
        setIndex(-1);
      } else if (by !== 0 && suggestions.length > 0) {
        event.preventDefault();
        setIndex((index + by + suggestions.length + (index < 0 && by < 0 ? 1 : 0)) % suggestions.length);
      }
    },
  };
}

export const focusSearch = (): void => {
  const field = document.getElementById('search') as HTMLInputElement | null;
  field?.focus();
  field?.select();
};

/** Loads the names of types and definitions when the field gets the focus. */
async function loadNames(): Promise<void> {
  const request = Promise.all([call('listTypes'), call('listDefs', { query: { limit: 200 } })]);
  const [types, defs] = await request.catch(() => []);
  if (types !== undefined) typeNames.value = types.items.map(({ name }) => name);
  if (defs !== undefined) defNames.value = defs.items.map(({ name }) => name);
}

function suggest(text: string): Suggestion[] {
  if (text.trim() === '') return [...recentSearches(), ...qualifierSuggestions('', '')].slice(0, shownMax);
  const last = /\S*$/.exec(text)![0];
  const before = text.slice(0, text.length - last.length);
  const id = runIdOf(text);
  const run = id === null ? [] : [{ text, shown: `Run ${id}`, hint: 'open', run: id }];
  const [, name, value] = /^(\w+):(.*)$/.exec(last) ?? [];
  const found = name === undefined ? qualifierSuggestions(before, last) : valueSuggestions(before, name, value!);
  return [...run, ...found].slice(0, shownMax);
}

const qualifierSuggestions = (before: string, prefix: string): Suggestion[] =>
  Object.entries(qualifiers)
    .filter(([name]) => name.startsWith(prefix.toLowerCase()))
    .map(([name, hint]) => {
      const shown = name === 'payload' ? 'payload.' : `${name}:`;
      return { text: before + shown, shown, hint };
    });

function valueSuggestions(before: string, name: string, typed: string): Suggestion[] {
  const parts = typed.split(',');
  const last = parts.pop()!.replace(/^"/, '').toLowerCase();
  return valuesOf(name)
    .filter((value) => value.toLowerCase().includes(last))
    .map((value) => {
      const list = [...parts, /\s/.test(value) ? `"${value}"` : value].join(',');
      return { text: `${before}${name}:${list}`, shown: `${name}:${list}`, hint: '' };
    });
}

function valuesOf(name: string): readonly string[] {
  if (name === 'state') return [...standings, 'open', 'ended'];
  if (name === 'type') return typeNames.value;
  if (name === 'def') return defNames.value;
  if (name === 'kind') return ['run', 'task', 'bedrock'];
  if (name === 'due') return ['<0s', '<1h', '<24h'];
  return name === 'created' ? ['<15m', '<1h', '<24h', '<7d', '>1d'] : [];
}

const recentKey = 'stint.searches';

function readRecent(): readonly string[] {
  const stored: unknown = JSON.parse(readStored(recentKey) ?? '[]');
  return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
}

const recentSearches = (): Suggestion[] => readRecent().map((text) => ({ text, shown: text, hint: 'recent' }));

function rememberSearch(text: string): void {
  const recent = [text, ...readRecent().filter((other) => other !== text)].slice(0, recentMax);
  writeStored(recentKey, JSON.stringify(recent));
}
