import postgres from 'postgres';
import { arrayTypes } from './array-types.ts';

/** A statement of the driver, with the members that its types omit; driver.test.ts pins them. */
export type DriverQuery = Promise<unknown> & {
  /** Called once, when the statement is awaited. */
  handler: (query: DriverQuery) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** One connection to the server, which the first statement opens and which is never reopened. */
export type SqlClient = {
  /** Creates statements and fragments; an awaited statement must go through `execute`. */
  readonly raw: postgres.Sql;
  /** Whether the connection is closed or discarded: it accepts no more statements. */
  isLost(): boolean;
  execute(query: DriverQuery): void;
  /** Closes the connection immediately; statements in flight are rejected. */
  discard(): void;
  /** Waits for statements in flight, then closes the connection. */
  end(seconds: number): Promise<void>;
};

export type ClientEvents = {
  /** Called once when the connection is closed or discarded. */
  readonly onLost?: () => void;
  /** Called for each notification of a channel that the connection listens on. */
  readonly onNotify?: (channel: string, payload: string) => void;
};

/**
 * Opens a client of one connection. The driver would reconnect a lost connection, but then statements of a transaction
 * would run outside of it, unsent data would stay in a buffer, and a late write would throw an uncaught error. A lost
 * client is therefore never used again (docs/decisions/0011).
 */
export function openClient(
  url: string,
  options: postgres.Options<Record<string, never>>,
  events: ClientEvents = {},
): SqlClient {
  let lost = false;
  const lose = (): void => {
    if (lost) return;
    lost = true;
    events.onLost?.();
  };
  const raw = postgres(url, {
    ...options,
    max: 1,
    // The driver would close an old connection between two statements of a transaction.
    max_lifetime: null,
    idle_timeout: null as never,
    onclose: lose,
    // Otherwise the driver would request the array types on each new connection, in a statement whose failure no code
    // handles.
    fetch_types: false,
    types: arrayTypes as never,
    // The types of the driver omit this option, which its own `listen` uses.
    ...({ onnotify: events.onNotify } as object),
  }) as unknown as postgres.Sql;
  // This query is never awaited and therefore never sent: it provides the function that sends statements over this
  // connection.
  const { handler } = raw.unsafe('') as unknown as DriverQuery;
  return {
    raw,
    isLost: () => lost,
    execute: (query) => void handler(query),
    discard() {
      if (lost) return;
      lose();
      void raw.end({ timeout: 0 }).catch(() => undefined);
    },
    async end(seconds) {
      lose();
      await raw.end({ timeout: seconds });
    },
  };
}
