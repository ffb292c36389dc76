/** The logger: what the engine says to whoever runs it. pino and console fit. */
export interface Logger {
  info(text: string, about?: Readonly<Record<string, unknown>>): void;
  warn(text: string, about?: Readonly<Record<string, unknown>>): void;
  error(text: string, about?: Readonly<Record<string, unknown>>): void;
}

export const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };
