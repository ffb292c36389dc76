/** The session: who looks, and what they may do. */
import { computed, signal } from '@preact/signals';
import type { Answer, Role } from '../../../src/faces/http/contract.ts';
import { call, isStranger } from '../api.ts';

export const me = signal<Answer<'me'> | null>(null);

const operators: readonly Role[] = ['operator', 'admin'];
const producers: readonly Role[] = ['producer', 'operator', 'admin'];
export const mayOperate = computed(() => me.value !== null && operators.includes(me.value.role));
export const mayProduce = computed(() => me.value !== null && producers.includes(me.value.role));

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
