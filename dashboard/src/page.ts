/** A page: its path, title, component, required role and entry in the navigation. */
import type { ComponentType } from 'preact';
import type { Role } from '../../src/http/contract.ts';
import type { IconName } from './components/icon.tsx';

export interface Page {
  /** The pattern of its path, such as `/runs/:id`. */
  readonly path: string;
  readonly title: string;
  readonly view: ComponentType<PageProps>;
  /** The role that the server requires for the page's data. Omitted: viewer. Null: any role. */
  readonly needs?: Role | null;
  /** The entry in the navigation. Omitted: only other pages link to this page. */
  readonly nav?: {
    readonly icon: IconName;
    /** `g` and this letter open the page. */
    readonly key: string;
    readonly group: 'Work' | 'Plan' | 'Machine';
  };
}

export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}
