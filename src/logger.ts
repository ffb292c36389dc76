/** The logger: receives the engine's reports for its operator. pino and `console` can be passed as they are. */
export interface Logger {
  info(text: string, about?: Readonly<Record<string, unknown>>): void;
  warn(text: string, about?: Readonly<Record<string, unknown>>): void;
  error(text: string, about?: Readonly<Record<string, unknown>>): void;
}

/** The methods of pino that Stint uses: the details come before the text. */
type PinoLog = (about: Readonly<Record<string, unknown>>, text: string) => void;

/**
 * Returns a logger whose methods take the text first. A pino logger, which takes the details first, is wrapped; it is
 * recognized by its method `bindings`. Any other logger is returned as it is.
 */
export function textFirst(logger: Logger): Logger {
  if (typeof (logger as { readonly bindings?: unknown }).bindings !== 'function') return logger;
  const pino = logger as unknown as Readonly<Record<keyof Logger, PinoLog>>;
  return {
    info: (text, about) => pino.info(pinoFields(about), text),
    warn: (text, about) => pino.warn(pinoFields(about), text),
    error: (text, about) => pino.error(pinoFields(about), text),
  };
}

/** pino serializes an error only in the field `err`; in any other field it is logged as `{}`. */
const pinoFields = ({ error, ...about }: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  ...about,
  err: error,
});

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
