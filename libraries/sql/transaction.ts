import type postgres from 'postgres';
import type { SqlClient } from './client.ts';
import { endsConnection, SqlConflictError, SqlUnavailableError } from './sql-error.ts';
import { type Send, statementsOver } from './statements.ts';

/** The template of a transaction; its statements are refused after the end of the transaction. */
export type TransactionSql = postgres.ISql & {
  /** Rolls back to the savepoint and rethrows if the callback throws. */
  savepoint<T>(run: (sql: TransactionSql) => Promise<T>): Promise<T>;
};

export type TransactionMode = 'read committed' | 'repeatable read' | 'serializable';

type TransactionBounds = {
  /** Timeout of one statement, milliseconds. */
  readonly answerMs: number;
  /** Timeout from BEGIN to the answer of COMMIT, milliseconds. */
  readonly transactionMs: number;
};

/** Runs a callback in one transaction on a client that the caller owns. */
export async function runTransaction<T>(
  client: SqlClient,
  mode: TransactionMode,
  bounds: TransactionBounds,
  run: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  const scope = new Scope(client, bounds.answerMs);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      client.discard();
      reject(new SqlUnavailableError('TRANSACTION_TIMEOUT'));
    }, bounds.transactionMs);
  });
  try {
    return await Promise.race([attempt(scope, mode, run), late]);
  } finally {
    clearTimeout(timer);
    scope.isOver = true;
  }
}

async function attempt<T>(scope: Scope, mode: TransactionMode, run: (sql: TransactionSql) => Promise<T>): Promise<T> {
  const { sql } = scope;
  await sql.unsafe(`begin isolation level ${mode}`);
  try {
    const value = await run(sql);
    if (scope.failure !== undefined) throw scope.failure;
    const { command } = await sql.unsafe('commit');
    // The server answers COMMIT of a failed transaction with ROLLBACK.
    if (command !== 'COMMIT') throw new SqlUnavailableError('NOT_COMMITTED');
    return value;
  } catch (error) {
    // If the rollback fails, the connection is discarded, which also ends the transaction.
    if (!scope.isLost()) await sql.unsafe('rollback').catch(() => undefined);
    // The callback may have translated the error.
    throw scope.failure instanceof SqlConflictError ? scope.failure : error;
  }
}

class Scope {
  readonly sql: TransactionSql;
  readonly #client: SqlClient;
  /** The first failure that no savepoint rolled back: the transaction must not commit. */
  failure: unknown;
  isOver = false;
  #savepoints = 0;

  constructor(client: SqlClient, answerMs: number) {
    this.#client = client;
    this.sql = statementsOver(client.raw, this.#send, answerMs, { savepoint: this.#savepoint });
  }

  isLost(): boolean {
    return this.#client.isLost();
  }

  readonly #send: Send = (query, done) => {
    done((error) => {
      if (error === undefined) return;
      this.failure ??= error;
      if (endsConnection(error)) this.#client.discard();
    });
    if (this.isOver || this.isLost()) query.reject(new SqlUnavailableError('TRANSACTION_OVER'));
    else this.#client.execute(query);
  };

  readonly #savepoint = async <T>(run: (sql: TransactionSql) => Promise<T>): Promise<T> => {
    this.#savepoints += 1;
    const name = `portcullis_${this.#savepoints}`;
    await this.sql.unsafe(`savepoint ${name}`);
    const before = this.failure;
    try {
      const value = await run(this.sql);
      if (this.failure !== before) throw this.failure;
      await this.sql.unsafe(`release savepoint ${name}`);
      return value;
    } catch (error) {
      if (!this.isLost()) {
        await this.sql.unsafe(`rollback to savepoint ${name}`);
        this.failure = before;
      }
      throw error;
    }
  };
}
