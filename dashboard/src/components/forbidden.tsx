/** Shown instead of a page that the current role may not see: names the role it requires. */
import type { JSX } from 'preact';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { me } from '../state/session.ts';
import { Empty, Loading } from './notice.tsx';

export function Forbidden({ page: { title, needs = 'viewer' } }: { readonly page: Page }): JSX.Element {
  const user = me.value;
  if (user === null) return <Loading />;
  return (
    <>
      <header class="page-head"><h1>{title}</h1></header>
      <Empty title={`This page requires the role ${needs}`} icon="settings">
        You are signed in as {user.name}, with the role {user.role}. Ask an administrator for a token with the role{' '}
        {needs}, then sign out in <a href={href('/settings')}>Settings</a> and sign in with it.
      </Empty>
    </>
  );
}
