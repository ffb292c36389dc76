/** The session: who looks, and what they may do. */
import { computed, signal } from '@preact/signals';
import type { Answer, Role } from '../../../src/http/contract.ts';
import { call, isStranger } from '../api.ts';
import type { Page } from '../page.ts';

export const me = signal<Answer<'me'> | null>(null);

/** Who else counts as one: as the server has it. */
const holders: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer', 'operator', 'admin'],
  producer: ['producer', 'operator', 'admin'],
  worker: ['worker', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
};

const isA = (role: Role): boolean => me.value !== null && holders[role].includes(me.value.role);

export const mayOperate = computed(() => isA('operator'));
export const mayProduce = computed(() => isA('producer'));
export const mayAdminister = computed(() => isA('admin'));

/** Until it is known who looks, they are taken for a viewer, so that nothing waits for it. */
export const maySee = ({ needs = 'viewer' }: Pick<Page, 'needs'>): boolean =>
  needs === null || (me.value === null ? needs === 'viewer' : isA(needs));

export async function recognise(): Promise<void> {
  me.value = await call('me');
  isStranger.value = false;
}

export async function signIn(token: string): Promise<void> {
  me.value = await call('signIn', { body: { token } });
  isStranger.value = false;
}

export async function signOut(): Promise<void> {
  await call('signOut');
  me.value = null;
  isStranger.value = true;
}
