import type postgres from 'postgres';
import type { Client } from './client.ts';
import { SqlUnavailableError } from './sql-error.ts';
import { type Send, statementsOver } from './statements.ts';

/** What the callback of a transaction gets: its statements belong to it, those after its end are refused. */
export type TransactionSql = postgres.ISql & {
  /** A part that is undone alone where its callback throws; the error is the callback's. */
  savepoint<T>(run: (sql: TransactionSql) => Promise<T>): Promise<T>;
};

export type TransactionMode = 'read committed' | 'repeatable read' | 'serializable';

export type TransactionBounds = {
  /** For the answer to one statement, milliseconds. */
  readonly answerMs: number;
  /** From BEGIN to the answer to COMMIT, milliseconds. */
  readonly transactionMs: number;
};

/** Runs a callback in one transaction on a client that nobody else uses meanwhile. */
export async function runTransaction<T>(
  client: Client,
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
    // The server undoes a transaction in which something failed, and says so only here.
    if (command !== 'COMMIT') throw new SqlUnavailableError('NOT_COMMITTED');
    return value;
  } catch (error) {
    // Where this fails the connection is given up, and with it the transaction.
    if (!scope.isLost()) await sql.unsafe('rollback').catch(() => undefined);
    throw error;
  }
}

class Scope {
  readonly sql: TransactionSql;
  readonly #client: Client;
  /** The first statement that failed and was not undone by a savepoint: a commit would keep half. */
  failure: unknown;
  isOver = false;
  #savepoints = 0;

  constructor(client: Client, answerMs: number) {
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
      if (error instanceof SqlUnavailableError) this.#client.discard();
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
