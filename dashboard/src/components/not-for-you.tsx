/** A page that was gone to by its address, and is not for the role of whoever looks: says which role it is for. */
import type { JSX } from 'preact';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { me } from '../state/session.ts';
import { Empty, Loading } from './notice.tsx';

export function NotForYou({ page: { title, needs = 'viewer' } }: { readonly page: Page }): JSX.Element {
  const who = me.value;
  if (who === null) return <Loading />;
  return (
    <>
      <header class="page-head"><h1>{title}</h1></header>
      <Empty title={`This page is for the role ${needs}`} icon="settings">
        You are signed in as {who.name}, with the role {who.role}. Ask an admin for a token with the role {needs}; in{' '}
        <a href={href('/settings')}>settings</a> you can sign out.
      </Empty>
    </>
  );
}
