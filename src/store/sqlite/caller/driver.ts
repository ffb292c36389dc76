/** A driver whose connections `in` accepts. They are recognized by their shape, so that nothing imports the driver. */
import type { Handle } from '../connection.ts';

/** Returns the connection in the form that Stint uses; null: `value` is no connection of this driver. */
export type Driver = (value: object) => Handle | null;
