import { type DestinationStream, pino } from 'pino';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line may carry: short facts. Texts of users, tokens and secrets never belong here. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type Logger = Readonly<Record<LogLevel, (event: string, fields?: LogFields) => void>> & {
  /** The same logger with fields in every line. */
  with(fields: LogFields): Logger;
};

export type LoggerOptions = {
  readonly service: string;
  readonly level: LogLevel;
  /** Where the lines go; standard error where not given. */
  readonly destination?: DestinationStream;
};

/** Fields of these names are dropped, whoever wrote them: a second net under the rule. */
const FORBIDDEN = ['content', 'text', 'token', 'authorization', 'secret', 'prompt', 'body'];

/** The logger's own names: a field of the same name would make a line with a key twice. */
const OWN = ['time', 'level', 'service', 'event'];

const DROPPED = new Set([...FORBIDDEN, ...OWN]);

/** A logger of one JSON object per line: time, level, service, event and the fields. */
export function createLogger({ service, level, destination = standardError() }: LoggerOptions): Logger {
  const sink = pino(
    {
      level,
      base: { service },
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return wrap(sink, {});
}

/** Lines are out when the call returns. Where nobody reads them any more, the process goes on without. */
function standardError(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true });
  destination.on('error', () => undefined);
  return destination;
}

function wrap(sink: pino.Logger, fixed: LogFields): Logger {
  const write =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}): void =>
      sink[level](allowed({ ...fixed, ...fields }), event);
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => wrap(sink, { ...fixed, ...fields }),
  };
}

function allowed(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !DROPPED.has(name.toLowerCase())));
}
