import type { SqlClient } from './client.ts';
import { SqlUnavailableError } from './sql-error.ts';

type PoolOptions = {
  readonly open: () => SqlClient;
  readonly max: number;
  /** Longest wait for a connection, milliseconds. */
  readonly waitMs: number;
};

/** A pool of at most `max` connections, given to callers in the order of their requests. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #all = new Set<SqlClient>();
  readonly #idle: SqlClient[] = [];
  readonly #waiting = new Set<(look: () => SqlClient | undefined) => void>();
  #ended = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @throws SqlUnavailableError on timeout, after the end of the pool, or if the password cannot be read */
  async take(): Promise<SqlClient> {
    return this.#ready() ?? (await this.#next());
  }

  /** Returns a connection to the pool; it may be a lost connection. */
  give(client: SqlClient): void {
    if (client.isLost()) this.#all.delete(client);
    else this.#idle.push(client);
    const [next] = this.#waiting;
    next?.(() => this.#ready());
  }

  /** Refuses further requests and waits for connections in use. */
  async end(seconds: number): Promise<void> {
    this.#ended = true;
    for (const next of [...this.#waiting]) next(() => this.#ready());
    await Promise.all([...this.#all].map((client) => client.end(seconds)));
  }

  /** An idle connection, or a new one within the limit. */
  #ready(): SqlClient | undefined {
    if (this.#ended) refuse('ENDED');
    for (let client = this.#idle.pop(); client !== undefined; client = this.#idle.pop()) {
      if (!client.isLost()) return client;
      this.#all.delete(client);
    }
    if (this.#all.size >= this.#options.max) return undefined;
    const opened = this.#options.open();
    this.#all.add(opened);
    return opened;
  }

  /** Queues a request; a request that finds no connection keeps its position. */
  #next(): Promise<SqlClient> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = (ready: () => SqlClient | undefined): void => {
        try {
          const client = ready();
          if (client === undefined) return;
          leave();
          resolve(client);
        } catch (error) {
          leave();
          reject(error);
        }
      };
      const timer = setTimeout(() => look(() => refuse('POOL_TIMEOUT')), this.#options.waitMs);
      this.#waiting.add(look);
    });
  }
}

function refuse(reason: string): never {
  throw new SqlUnavailableError(reason);
}
