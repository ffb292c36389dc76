/** The address of a command-line option: HOST:PORT, PORT on this machine, or off. */
import { Refusal } from '../refusal.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Returns null for `off`. */
export function addressOf(flag: string, text: string): Address | null {
  if (text === 'off') return null;
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) < 65_536) return { host: host ?? '127.0.0.1', port: Number(port) };
  throw new Refusal('malformed.option', `invalid address "${text.slice(0, 60)}" for ${flag}; use HOST:PORT or off`, {});
}

/** Turns the error of a port in use into a refusal that names the option. */
export const refusePortInUse = (flag: string, { host, port }: Address) => (error: unknown): never => {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  const instead = `use ${flag} ${host}:0 for a free port`;
  const message = `cannot listen on ${host}:${port}: the port is in use. Stop the other program, or ${instead}`;
  throw new Refusal('malformed.option', message, { host, port });
};
