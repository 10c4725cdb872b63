import { type DestinationStream, pino } from 'pino';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields of a log line: short facts, never text of users, tokens or secrets. */
type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type Logger = Readonly<Record<LogLevel, (event: string, fields?: LogFields) => void>> & {
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
};

type LoggerOptions = {
  readonly service: string;
  readonly level: LogLevel;
  /** Receives the lines; standard error when absent. */
  readonly destination?: DestinationStream;
};

/** Fields with these names are always dropped, as a safeguard against logging user data. */
const FORBIDDEN = ['content', 'text', 'token', 'authorization', 'secret', 'prompt', 'body'];

/** Members that the logger sets; a field of the same name would duplicate the key. */
const OWN = ['time', 'level', 'service', 'event'];

const DROPPED = new Set([...FORBIDDEN, ...OWN]);

/** Writes one JSON object per line: time, level, service, event and the fields. */
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

/** Synchronous, so that no line is lost at exit. A closed standard error does not end the process. */
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
  if (!Object.keys(fields).some((name) => DROPPED.has(name.toLowerCase()))) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !DROPPED.has(name.toLowerCase())));
}
