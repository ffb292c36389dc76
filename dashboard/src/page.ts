/** A page: its path, title, component, required role and entry in the navigation. */
import type { ComponentType } from 'preact';
import type { Role } from '../../src/http/contract.ts';
import type { IconName } from './components/icon.tsx';

export interface Page {
  /** Such as `/runs/:id`. */
  readonly path: string;
  readonly title: string;
  readonly view: ComponentType<PageProps>;
  /** The role that the server requires for its data. Left out: viewer. Null: any role. */
  readonly needs?: Role | null;
  /** Left out: the page is reached from other pages only. */
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
