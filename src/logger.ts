/** The logger: receives the engine's reports for its operator. pino and `console` have this interface. */
export interface Logger {
  info(text: string, about?: Readonly<Record<string, unknown>>): void;
  warn(text: string, about?: Readonly<Record<string, unknown>>): void;
  error(text: string, about?: Readonly<Record<string, unknown>>): void;
}

/** Turns errors of the logger into process warnings: they must not interrupt the code that logs. */
export const neverThrowing = (logger: Logger): Logger => ({
  info: (text, about) => attempt(() => logger.info(text, about)),
  warn: (text, about) => attempt(() => logger.warn(text, about)),
  error: (text, about) => attempt(() => logger.error(text, about)),
});

function attempt(log: () => void): void {
  try {
    log();
  } catch {
    process.emitWarning('the logger passed to Stint threw an error: a log line is lost', 'StintWarning');
  }
}

export const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };
