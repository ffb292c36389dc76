/** The logger: what the engine says to whoever runs it. pino and console fit. */
export interface Logger {
  info(text: string, about?: Readonly<Record<string, unknown>>): void;
  warn(text: string, about?: Readonly<Record<string, unknown>>): void;
  error(text: string, about?: Readonly<Record<string, unknown>>): void;
}

/** One that throws is told to the process and harms nobody: those who log are those who store outcomes. */
export const unfailing = (logger: Logger): Logger => ({
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
