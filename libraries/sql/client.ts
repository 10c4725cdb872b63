import postgres from 'postgres';

/** A statement of the driver, with what this module uses of it beyond its types. */
export type DriverQuery = Promise<unknown> & {
  /** Called once, when somebody waits for the answer. */
  handler: (query: DriverQuery) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** One connection to the server, made at its first statement and never made again. */
export type Client = {
  /** Makes statements and their parts; one that somebody waits for must go through `execute`. */
  readonly raw: postgres.Sql;
  /** Whether the connection is gone or given up: it takes no statement any more. */
  isLost(): boolean;
  execute(query: DriverQuery): void;
  /** Gives it up at once; statements under way are rejected. */
  discard(): void;
  /** Waits for statements under way, then ends the connection. */
  end(seconds: number): Promise<void>;
};

/**
 * Opens a client of one connection. The driver can bring a lost connection back by itself, but then a transaction goes
 * on outside of any, a buffer keeps what was never sent, and a late write ends the process: what is lost stays lost.
 */
export function openClient(url: string, options: postgres.Options<Record<string, never>>): Client {
  let lost = false;
  const raw = postgres(url, {
    ...options,
    max: 1,
    // The driver would end a connection of some age between two statements of a transaction.
    max_lifetime: null,
    idle_timeout: null as never,
    onclose: () => {
      lost = true;
    },
  }) as unknown as postgres.Sql;
  // Never waited for, so never sent: it only lends the function that sends statements of this connection.
  const { handler } = raw.unsafe('') as unknown as DriverQuery;
  return {
    raw,
    isLost: () => lost,
    execute: (query) => void handler(query),
    discard() {
      if (lost) return;
      lost = true;
      void raw.end({ timeout: 0 }).catch(() => undefined);
    },
    async end(seconds) {
      lost = true;
      await raw.end({ timeout: seconds });
    },
  };
}
