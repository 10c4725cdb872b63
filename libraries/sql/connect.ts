import { readFileSync } from 'node:fs';
import type postgres from 'postgres';
import { ConfigError } from '#kit/env/config-error';
import { type Client, openClient } from './client.ts';
import { Pool } from './pool.ts';
import { SqlUnavailableError } from './sql-error.ts';
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
   * Runs the callback in one transaction, `read committed` where no mode is given. It is committed where the callback
   * succeeds and each statement outside of a failed savepoint did; else nothing of it is kept. An SqlUnavailableError
   * may also mean that it was committed and the answer was lost.
   */
  begin<T>(run: (sql: TransactionSql) => Promise<T>): Promise<T>;
  begin<T>(mode: TransactionMode, run: (sql: TransactionSql) => Promise<T>): Promise<T>;
};

export type ConnectOptions = {
  /** postgres://user@host:port/database, with `?sslmode=verify-full` where wanted; it holds no password. */
  readonly url: URL | string;
  /** Shown in the server's list of sessions. */
  readonly applicationName: string;
  /** Connections at the same time; 10 where not given. Statements wait in line for one. */
  readonly max?: number;
  /** Asked at every connect, so that a rotated password needs no restart: see `passwordFrom`. */
  readonly password?: () => string;
  /** How long the server works on one statement, milliseconds; 10,000 where not given. */
  readonly statementTimeoutMs?: number;
};

export type Database = AsyncDisposable & {
  /**
   * Rejections are SqlUnavailableError where nobody knows the outcome and SqlStatementError where the server refused,
   * both without any value; others are faults of the program. A transaction may take three times as long as one
   * statement.
   */
  readonly sql: Sql;
  /** The same database over one connection of its own. @param options.statementTimeoutMs its own bound */
  alone(options: { readonly statementTimeoutMs: number }): Database;
};

/** How long a connection may take until statements can be sent, seconds. */
const connectSeconds = 5;
/** How much longer than the server's own bound an answer is waited for, milliseconds: a server that stands still. */
const slackMs = connectSeconds * 1_000 + 1_000;
const endSeconds = 5;

/**
 * A bounded pool of connections to PostgreSQL. Nothing is connected before the first statement, and a server that is
 * away fails that statement, not this call. Disposing waits five seconds for statements under way.
 * @throws ConfigError where the URL cannot be used or holds a password
 */
export function connectSql(options: ConnectOptions): Database {
  const url = checkedUrl(options.url);
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
  const settings = driverSettings(options, statementTimeoutMs);
  const answerMs = statementTimeoutMs + slackMs;
  // The driver would ask for the password where nobody hears its failure.
  const open = (): Client => openClient(url, { ...settings, password: options.password?.() });
  const pool = new Pool({ open, max: options.max ?? 10, waitMs: answerMs });
  return {
    // The client that makes statements never connects.
    sql: sqlOver(pool, openClient(url, settings), answerMs),
    alone: (own) => connectSql({ ...options, ...own, max: 1 }),
    [Symbol.asyncDispose]: () => pool.end(endSeconds),
  };
}

function driverSettings(options: ConnectOptions, statementTimeoutMs: number): postgres.Options<Record<string, never>> {
  return {
    connect_timeout: connectSeconds,
    // What the server says beside its answers may quote values; the driver would print it.
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

function sqlOver(pool: Pool, maker: Client, answerMs: number): Sql {
  const send: Send = (query, done) => {
    let settled = false;
    done(() => {
      settled = true;
    });
    pool.take().then((client) => {
      if (settled) return pool.give(client);
      done((error) => {
        if (error instanceof SqlUnavailableError) client.discard();
        pool.give(client);
      });
      client.execute(query);
    }, query.reject);
  };
  async function begin<T>(...args: [Run<T>] | [TransactionMode, Run<T>]): Promise<T> {
    const [mode, run] = args.length === 1 ? (['read committed', args[0]] as const) : args;
    const client = await pool.take();
    try {
      return await runTransaction(client, mode, { answerMs, transactionMs: answerMs * 3 }, run);
    } finally {
      pool.give(client);
    }
  }
  return statementsOver(maker.raw, send, answerMs, { begin });
}

type Run<T> = (sql: TransactionSql) => Promise<T>;

/** Reads the password from a mounted file at every connect; white space at its end does not count. */
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
