/** Opens a store in memory. */
import { MemoryStore } from '../store/memory/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
import { systemClock, type Clock } from '../time/clock.ts';

export const openMemory = ({ options }: StoreAddress): Store =>
  new MemoryStore((options['clock'] as Clock | undefined) ?? systemClock);
