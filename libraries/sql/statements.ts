import type postgres from 'postgres';
import type { DriverQuery } from './client.ts';
import { SqlUnavailableError, sqlErrorOf } from './sql-error.ts';

/**
 * Sends a statement. `done` registers a listener that is called once, when the statement is answered, refused or timed
 * out.
 */
export type Send = (query: DriverQuery, done: (onDone: (error: unknown) => void) => void) => void;

/** Members of the driver's function that only create values and need no interception. */
const makers = new Set(['json', 'typed', 'types']);

/**
 * Object identifiers of the array types of PostgreSQL, by the identifiers of their element types (catalogue pg_type).
 */
const arrayTypes: Readonly<Record<number, number>> = {
  16: 1000, // bool
  17: 1001, // bytea
  20: 1016, // int8
  23: 1007, // int4
  25: 1009, // text
  701: 1022, // float8
  1184: 1185, // timestamptz
  2950: 2951, // uuid
  3802: 3807, // jsonb
};

/**
 * The driver's tagged template whose statements go through `send`. They reject with SqlUnavailableError or
 * SqlStatementError, even for a stopped server, on which statement_timeout has no effect.
 * @param extra additional members of the template
 */
export function statementsOver<T extends object>(
  raw: postgres.Sql,
  send: Send,
  answerMs: number,
  extra: T,
): postgres.ISql & T {
  const intercept = (made: unknown): unknown =>
    made instanceof Promise ? routed(made as DriverQuery, send, answerMs) : made;
  const template: postgres.ISql & T = new Proxy(raw, {
    apply: (target, self, args) => intercept(Reflect.apply(target as never, self, args)),
    get(target, name): unknown {
      if (typeof name === 'symbol' || makers.has(name)) return Reflect.get(target, name);
      if (name in extra) return Reflect.get(extra, name);
      if (name === 'array') return (values: readonly unknown[], type = 25) => typedArray(target, values, type);
      if (name === 'unsafe') return (...args: never[]) => intercept(Reflect.apply(target.unsafe, target, args));
      return undefined;
    },
  }) as never;
  return template;
}

/** The driver learns array types from its connection, but the client that creates statements has no connection. */
function typedArray(raw: postgres.Sql, values: readonly unknown[], type: number): unknown {
  const arrayType = arrayTypes[type];
  if (arrayType === undefined) throw new TypeError(`no array type is known for type ${type}`);
  return raw.typed(values, arrayType);
}

/** A fragment of another statement is never awaited, and so never sent. */
function routed(query: DriverQuery, send: Send, answerMs: number): DriverQuery {
  const { resolve, reject } = query;
  const listeners: ((error: unknown) => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let settled = false;
  const settle = (tell: () => void, error?: unknown): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    for (const listener of listeners) listener(error);
    tell();
  };
  query.resolve = (value) => settle(() => resolve(value));
  query.reject = (cause) => {
    const error = sqlErrorOf(cause);
    settle(() => reject(error), error);
  };
  query.handler = Object.assign(
    (self: DriverQuery) => {
      timer = setTimeout(() => query.reject(new SqlUnavailableError('ANSWER_TIMEOUT')), answerMs);
      send(self, (onDone) => listeners.push(onDone));
    },
    { debug: false },
  );
  return query;
}
