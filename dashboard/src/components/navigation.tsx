/** The navigation: all pages, by group. */
import type { JSX } from 'preact';
import type { Page } from '../page.ts';
import { currentUrl, href } from '../router.ts';
import { Icon } from './icon.tsx';

interface NavigationProps {
  readonly pages: readonly Page[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function Navigation({ pages, isOpen, onClose }: NavigationProps): JSX.Element {
  const groups = Map.groupBy(pages.filter(({ nav }) => nav !== undefined), ({ nav }) => nav!.group);
  return (
    <nav class="navigation" aria-label="Dashboard pages" data-open={isOpen} onClick={onClose}>
      <a class="brand" href={href('/')}>
        <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 6.500h9M9 12h11M5.500 17.500h8" /></svg>
        Stint
      </a>
      {[...groups].map(([group, members]) => (
        <section key={group}>
          <h2>{group}</h2>
          {members.map(({ path, title, nav }) => (
            <a key={path} href={href(path)} aria-current={isCurrent(path) ? 'page' : undefined!}>
              <Icon name={nav!.icon} />
              {title}
              <kbd aria-hidden="true">g {nav!.key}</kbd>
            </a>
          ))}
        </section>
      ))}
    </nav>
  );
}

const isCurrent = (path: string): boolean =>
  path === '/' ? currentUrl.value.path === '/' : `${currentUrl.value.path}/`.startsWith(`${path}/`);
