/** The session: the signed-in user, and the actions that the user's role allows. */
import { computed, signal } from '@preact/signals';
import type { Answer, Role } from '../../../src/http/contract.ts';
import { call, needsSignIn } from '../api.ts';
import type { Page } from '../page.ts';

export const me = signal<Answer<'me'> | null>(null);

/** For each role, the roles that include it. The server has the same rules in `access.ts`. */
const rolesIncluding: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer', 'operator', 'admin'],
  producer: ['producer', 'operator', 'admin'],
  worker: ['worker', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
};

const isA = (role: Role): boolean => me.value !== null && rolesIncluding[role].includes(me.value.role);

export const mayView = computed(() => isA('viewer'));
export const mayOperate = computed(() => isA('operator'));
export const mayProduce = computed(() => isA('producer'));
export const mayAdminister = computed(() => isA('admin'));

/** Whether the user may answer a question that requires a role. */
export const mayAnswer = (role: Role): boolean => isA(role);

/**
 * Whether the user may see a page. Until the session is loaded, pages for viewers are shown, so that they load without
 * delay.
 */
export const maySee = ({ needs = 'viewer' }: Pick<Page, 'needs'>): boolean =>
  needs === null || (me.value === null ? needs === 'viewer' : isA(needs));

export async function loadSession(): Promise<void> {
  me.value = await call('me');
  needsSignIn.value = false;
}

export async function signIn(token: string): Promise<void> {
  me.value = await call('signIn', { body: { token } });
  needsSignIn.value = false;
}

export async function signOut(): Promise<void> {
  await call('signOut');
  me.value = null;
  needsSignIn.value = true;
}
