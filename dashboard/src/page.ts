/** A page: the path it answers, its name, where it stands in the navigation, and what it shows. */
import type { ComponentType } from 'preact';
import type { Role } from '../../src/http/contract.ts';
import type { IconName } from './components/icon.tsx';

export interface Page {
  /** Such as `/runs/:id`. */
  readonly path: string;
  readonly title: string;
  readonly view: ComponentType<PageProps>;
  /** Whom the server answers what it shows; left out: viewers. Null: whoever is signed in. */
  readonly needs?: Role | null;
  /** Left out: reached from other pages only. */
  readonly nav?: {
    readonly icon: IconName;
    /** `g` and this letter lead there. */
    readonly key: string;
    readonly group: 'Work' | 'Plan' | 'Machine';
  };
}

export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}
