import type { Client } from './client.ts';
import { SqlUnavailableError } from './sql-error.ts';

export type PoolOptions = {
  readonly open: () => Client;
  readonly max: number;
  /** How long a connection is waited for, milliseconds. */
  readonly waitMs: number;
};

/** At most `max` connections, lent in the order in which they were asked for. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #all = new Set<Client>();
  readonly #idle: Client[] = [];
  readonly #waiting = new Set<(look: () => Client | undefined) => void>();
  #ended = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @throws SqlUnavailableError where none is free in time, the pool has ended, or there is no password */
  async take(): Promise<Client> {
    return this.#ready() ?? (await this.#next());
  }

  /** Takes a lent connection back, one that is lost too. */
  give(client: Client): void {
    if (client.isLost()) this.#all.delete(client);
    else this.#idle.push(client);
    const [next] = this.#waiting;
    next?.(() => this.#ready());
  }

  /** Nothing is lent any more; what is lent is waited for. */
  async end(seconds: number): Promise<void> {
    this.#ended = true;
    for (const next of [...this.#waiting]) next(() => this.#ready());
    await Promise.all([...this.#all].map((client) => client.end(seconds)));
  }

  /** One that is free or may be opened. */
  #ready(): Client | undefined {
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

  /** Waits in line. Who is told to look and finds nothing stays at its place. */
  #next(): Promise<Client> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = (ready: () => Client | undefined): void => {
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
