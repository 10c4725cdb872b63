import { readFileSync } from 'node:fs';
import type postgres from 'postgres';
import { ConfigError } from '#kit/env/config-error';
import { type ClientEvents, openClient, type SqlClient } from './client.ts';
import { openListener, type SqlListener } from './listen.ts';
import { Pool } from './pool.ts';
import { repeatConflicts } from './repeat-conflicts.ts';
import { endsConnection, SqlUnavailableError } from './sql-error.ts';
import { type Send, statementsOver } from './statements.ts';
import { runTransaction, type TransactionMode, type TransactionSql } from './transaction.ts';

export { SqlStatementError, SqlUnavailableError } from './sql-error.ts';
export type { TransactionSql } from './transaction.ts';

/**
 * A tagged template of postgres.js that sends statements: values become parameters, never text of the statement;
 * `sql(name)` is an identifier, `sql(rows)` a list of values.
 */
export type Sql = postgres.ISql & {
  /**
   * Runs the callback in one transaction, `read committed` by default. It commits if the callback and every statement
   * outside of a failed savepoint succeed, and rolls back otherwise. After an SqlUnavailableError the transaction may
   * have been committed: the answer was lost. The callback runs again, up to three times, if the database rolled the
   * transaction back because of a concurrent one; then it rejects with SqlConflictError, and nothing was committed.
   * Therefore any effect of the callback outside of its transaction must be repeatable; otherwise use `beginOnce`.
   */
  begin<T>(run: (sql: TransactionSql) => Promise<T>): Promise<T>;
  begin<T>(mode: TransactionMode, run: (sql: TransactionSql) => Promise<T>): Promise<T>;
  /**
   * Runs a callback that must not run again in one transaction, `read committed`: after a conflict it rejects with
   * SqlConflictError immediately.
   */
  beginOnce<T>(run: (sql: TransactionSql) => Promise<T>): Promise<T>;
};

/** A statement that has not been sent yet, and that can become a part of another statement. */
export type SqlPart = postgres.PendingQuery<postgres.Row[]>;

export type ConnectOptions = {
  /** postgres://user@host:port/database, optionally with `?sslmode=verify-full`, without a password. */
  readonly url: URL | string;
  /** The name of the application in the server's list of sessions. */
  readonly applicationName: string;
  /** Maximum number of concurrent connections, 10 by default. Statements wait in a queue for a free connection. */
  readonly max?: number;
  /** Called for every connection, so that a rotated password needs no restart; see `passwordFrom`. */
  readonly password?: () => string;
  /** statement_timeout of the server, milliseconds; 10,000 by default. */
  readonly statementTimeoutMs?: number;
};

export type Database = AsyncDisposable & {
  /**
   * Runs statements. Rejects with SqlUnavailableError if the outcome is unknown and with SqlStatementError if the
   * server refused the statement, both without any value; any other error is a defect of the program. A transaction may
   * take three times as long as one statement.
   */
  readonly sql: Sql;
  /** Opens the same database over one separate connection with its own statement timeout. */
  alone(options: { readonly statementTimeoutMs: number }): Database;
  /**
   * Receives notifications over one more connection, which the first `listen` opens. The caller disposes it.
   * @param options.checkEveryMs time between two checks of a silent connection, milliseconds; 15,000 by default
   */
  listener(options?: { readonly checkEveryMs?: number }): SqlListener;
};

/** Timeout of a connection attempt, seconds. */
const connectSeconds = 5;
/** Wait for an answer beyond statement_timeout, milliseconds: a stopped server does not time out itself. */
const slackMs = connectSeconds * 1_000 + 1_000;
const endSeconds = 5;

/**
 * A bounded pool of connections to PostgreSQL. The pool connects with the first statement, so that an unreachable
 * server fails that statement and not this call. Disposing waits up to five seconds for statements in flight.
 * @throws ConfigError if the URL is invalid or contains a password
 */
export function connectSql(options: ConnectOptions): Database {
  const url = checkedUrl(options.url);
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
  const settings = driverSettings(options, statementTimeoutMs);
  const answerMs = statementTimeoutMs + slackMs;
  // The password is read here because the driver swallows an error of its password function.
  const open = (events?: ClientEvents): SqlClient =>
    openClient(url, { ...settings, password: options.password?.() }, events);
  const pool = new Pool({ open: () => open(), max: options.max ?? 10, waitMs: answerMs });
  return {
    // This client of the driver only builds statements and never connects.
    sql: sqlOver(pool, openClient(url, settings), answerMs),
    alone: (own) => connectSql({ ...options, ...own, max: 1 }),
    listener: ({ checkEveryMs = 15_000 } = {}) => openListener({ open, answerMs, checkEveryMs }),
    [Symbol.asyncDispose]: () => pool.end(endSeconds),
  };
}

function driverSettings(options: ConnectOptions, statementTimeoutMs: number): postgres.Options<Record<string, never>> {
  return {
    connect_timeout: connectSeconds,
    // Notices may quote values, and the driver prints them by default.
    onnotice: () => undefined,
    debug: false,
    connection: {
      application_name: options.applicationName,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs * 2,
      client_min_messages: 'warning',
    },
  };
}

function sqlOver(pool: Pool, maker: SqlClient, answerMs: number): Sql {
  const send: Send = (query, done) => {
    let settled = false;
    done(() => {
      settled = true;
    });
    pool.take().then((client) => {
      if (settled) return pool.give(client);
      done((error) => {
        if (endsConnection(error)) client.discard();
        pool.give(client);
      });
      client.execute(query);
    }, query.reject);
  };
  async function runOnce<T>(mode: TransactionMode, run: Run<T>): Promise<T> {
    const client = await pool.take();
    try {
      return await runTransaction(client, mode, { answerMs, transactionMs: answerMs * 3 }, run);
    } finally {
      pool.give(client);
    }
  }
  function begin<T>(...args: [Run<T>] | [TransactionMode, Run<T>]): Promise<T> {
    const [mode, run] = args.length === 1 ? (['read committed', args[0]] as const) : args;
    return repeatConflicts(() => runOnce(mode, run));
  }
  const beginOnce = <T>(run: Run<T>): Promise<T> => runOnce('read committed', run);
  return statementsOver(maker.raw, send, answerMs, { begin, beginOnce });
}

type Run<T> = (sql: TransactionSql) => Promise<T>;

/** Reads the password from a mounted file for every connection, without trailing white space. */
export function passwordFrom(path: string): () => string {
  return () => {
    try {
      return readFileSync(path, 'utf8').trimEnd();
    } catch (cause) {
      throw new SqlUnavailableError('PASSWORD_FILE', cause);
    }
  };
}

function checkedUrl(given: URL | string): string {
  const url = URL.parse(String(given));
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol) || url.pathname.length < 2) {
    throw new ConfigError(['the URL of the database must be postgres://user@host:port/database']);
  }
  if (url.password !== '') {
    throw new ConfigError(['the URL of the database holds a password: put it into a file and name that file']);
  }
  return url.href;
}
