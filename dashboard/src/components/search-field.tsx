/** The search of the top bar: text with qualifiers, and what could come next while it is written. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { go, place, queryOf } from '../router.ts';
import { qualifiers } from '../search.ts';
import { standings } from '../state/run-words.ts';
import { recall, remember } from '../state/preferences.ts';
import { Icon } from './icon.tsx';

interface Suggestion {
  /** The whole text if it is taken. */
  readonly text: string;
  readonly shown: string;
  readonly hint: string;
  /** A run to open. */
  readonly run?: string;
}

const typeNames = signal<readonly string[]>([]);
const defNames = signal<readonly string[]>([]);
const recentMax = 6;
const shownMax = 9;

export function SearchField(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const current = place.value.path === '/runs' ? queryOf('search') : '';
  const [text, setText] = useState(current);
  const [isOpen, setOpen] = useState(false);
  const [index, setIndex] = useState(-1);
  useEffect(() => setText(current), [current]);
  const choices = isOpen ? suggest(text) : [];

  const search = (said: string): void => {
    setOpen(false);
    setIndex(-1);
    setText(said);
    input.current?.blur();
    if (said.trim() !== '') rememberSearch(said.trim());
    go('/runs', { search: said.trim() });
  };
  const take = (choice: Suggestion): void => {
    if (choice.run !== undefined) {
      setOpen(false);
      setText('');
      input.current?.blur();
      go(`/runs/${choice.run}`);
    } else if (choice.text.endsWith(':') || choice.text.endsWith('.')) {
      setText(choice.text);
      setIndex(-1);
      input.current?.focus();
    } else search(choice.text);
  };
  const walk = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Escape') {
      setOpen(false);
      input.current?.blur();
    } else if (event.key === 'Tab' && index >= 0 && choices[index] !== undefined) {
      event.preventDefault();
      setText(choices[index].text);
      setIndex(-1);
    } else if (by !== 0 && choices.length > 0) {
      event.preventDefault();
      setIndex((index + by + choices.length + (index < 0 && by < 0 ? 1 : 0)) % choices.length);
    }
  };
  return (
    <form
      class="search" role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const choice = choices[index];
        if (choice !== undefined) take(choice);
        else if (/^\d{1,16}$/.test(text.trim())) take({ text, shown: '', hint: '', run: text.trim() });
        else search(text);
      }}
    >
      <Icon name="search" />
      <input
        ref={input} id="search" type="text" role="combobox" aria-label="Search runs" aria-expanded={choices.length > 0}
        aria-controls="search-list" aria-autocomplete="list" autocomplete="off" spellcheck={false} value={text}
        aria-activedescendant={index >= 0 ? `search-${index}` : undefined!}
        placeholder="Search runs: state:failed type:mail*"
        onFocus={() => {
          setOpen(true);
          void learnNames();
        }}
        onBlur={() => setOpen(false)} onKeyDown={walk}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setIndex(-1);
          setOpen(true);
        }}
      />
      <kbd>/</kbd>
      <ul id="search-list" class="suggestions" role="listbox" aria-label="Suggestions" hidden={choices.length === 0}>
        {choices.map((choice, at) => (
          <li
            key={choice.shown} id={`search-${at}`} role="option" aria-selected={at === index}
            onPointerDown={(event) => {
              event.preventDefault();
              take(choice);
            }}
          >
            <b>{choice.shown}</b> <span>{choice.hint}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}

export const focusSearch = (): void => {
  const field = document.getElementById('search') as HTMLInputElement | null;
  field?.focus();
  field?.select();
};

/** Names of types and definitions, asked for once the search is used. */
async function learnNames(): Promise<void> {
  const asked = Promise.all([call('listTypes'), call('listDefs', { query: { limit: 200 } })]);
  const [types, defs] = await asked.catch(() => []);
  if (types !== undefined) typeNames.value = types.items.map(({ name }) => name);
  if (defs !== undefined) defNames.value = defs.items.map(({ name }) => name);
}

function suggest(text: string): Suggestion[] {
  if (text.trim() === '') return [...recentSearches(), ...qualifierSuggestions('', '')].slice(0, shownMax);
  const last = /\S*$/.exec(text)![0];
  const before = text.slice(0, text.length - last.length);
  const isId = /^\d{1,16}$/.test(text.trim());
  const run = isId ? [{ text, shown: `Run ${text.trim()}`, hint: 'open it', run: text.trim() }] : [];
  const [, name, begun] = /^(\w+):(.*)$/.exec(last) ?? [];
  const found = name === undefined ? qualifierSuggestions(before, last) : valueSuggestions(before, name, begun!);
  return [...run, ...found].slice(0, shownMax);
}

const qualifierSuggestions = (before: string, begun: string): Suggestion[] =>
  Object.entries(qualifiers)
    .filter(([name]) => name.startsWith(begun.toLowerCase()))
    .map(([name, hint]) => {
      const shown = name === 'payload' ? 'payload.' : `${name}:`;
      return { text: before + shown, shown, hint };
    });

function valueSuggestions(before: string, name: string, begun: string): Suggestion[] {
  const parts = begun.split(',');
  const last = parts.pop()!.replace(/^"/, '').toLowerCase();
  return valuesOf(name)
    .filter((value) => value.toLowerCase().includes(last))
    .map((value) => {
      const said = [...parts, /\s/.test(value) ? `"${value}"` : value].join(',');
      return { text: `${before}${name}:${said}`, shown: `${name}:${said}`, hint: '' };
    });
}

function valuesOf(name: string): readonly string[] {
  if (name === 'state') return [...standings, 'open', 'ended'];
  if (name === 'type') return typeNames.value;
  if (name === 'def') return defNames.value;
  if (name === 'kind') return ['run', 'task', 'bedrock'];
  return name === 'created' ? ['<15m', '<1h', '<24h', '<7d', '>1d'] : [];
}

const recentKey = 'stint.searches';

function readRecent(): readonly string[] {
  const kept: unknown = JSON.parse(recall(recentKey) ?? '[]');
  return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
}

const recentSearches = (): Suggestion[] => readRecent().map((text) => ({ text, shown: text, hint: 'searched before' }));

function rememberSearch(text: string): void {
  const kept = [text, ...readRecent().filter((other) => other !== text)].slice(0, recentMax);
  remember(recentKey, JSON.stringify(kept));
}
