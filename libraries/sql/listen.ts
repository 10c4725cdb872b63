import { createBackoff } from '#kit/time/backoff';
import { wait } from '#kit/time/wait';
import type { ClientEvents, SqlClient } from './client.ts';
import { SqlUnavailableError } from './sql-error.ts';
import { type Send, statementsOver } from './statements.ts';

/** The handlers of the notifications of one channel. They must not throw. */
type NotificationHandlers = {
  readonly onNotify: (payload: string) => void;
  /** The connection was lost and is restored: notifications were lost meanwhile, so that tables must be read again. */
  readonly onGap: () => void;
};

/**
 * Receives notifications (PostgreSQL documentation, NOTIFY). A lost connection is reopened until the listener is
 * disposed; notifications meanwhile are not delivered, and `onGap` of every channel is called.
 */
export type SqlListener = AsyncDisposable & {
  /**
   * Resolves when the server has confirmed: every notification that is committed afterwards is delivered, or is lost in
   * a gap that `onGap` reports. Disposing the result ends the deliveries.
   * @throws SqlUnavailableError
   */
  listen(channel: string, handlers: NotificationHandlers): Promise<AsyncDisposable>;
};

type ListenerOptions = {
  readonly open: (events: ClientEvents) => SqlClient;
  /** Longest wait for an answer, milliseconds. */
  readonly answerMs: number;
  /** Time between two checks of a silent connection, milliseconds: a server that vanished closes no connection. */
  readonly checkEveryMs: number;
};

/** Pauses between attempts to open a lost connection, milliseconds. */
const reconnect = { firstMs: 100, maxMs: 10_000 } as const;
const endSeconds = 1;

/** An identifier of PostgreSQL, at most 63 bytes. */
const channelForm = /^[a-z_][a-z0-9_]{0,62}$/;

export function openListener(options: ListenerOptions): SqlListener {
  return new Listener(options);
}

type Connection = { readonly client: SqlClient; readonly sql: ReturnType<typeof templateOver> };

class Listener implements SqlListener {
  readonly #options: ListenerOptions;
  readonly #channels = new Map<string, Set<NotificationHandlers>>();
  readonly #ended = new AbortController();
  #connection: Connection | undefined;
  /** Whether a connection was lost, so that there is a gap before the next connection. */
  #isGap = false;
  #isReopening = false;
  /** Changes of the connection and its channels are made one after another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async listen(channel: string, handlers: NotificationHandlers): Promise<AsyncDisposable> {
    if (!channelForm.test(channel)) throw new TypeError(`${channel} cannot be the name of a channel`);
    await this.#inTurn(async () => {
      const { sql } = await this.#connect();
      // Handlers are registered first, so that they receive a notification right after the confirmation.
      this.#add(channel, handlers);
      try {
        await sql.unsafe(`listen "${channel}"`);
      } catch (error) {
        this.#remove(channel, handlers);
        throw error;
      }
    });
    return { [Symbol.asyncDispose]: () => this.#unlisten(channel, handlers) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#channels.clear();
    await this.#connection?.client.end(endSeconds);
    await this.#turn;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #add(channel: string, handlers: NotificationHandlers): void {
    const all = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, all.add(handlers));
  }

  /** Removes handlers. Returns whether no handlers of the channel are left. */
  #remove(channel: string, handlers: NotificationHandlers): boolean {
    const all = this.#channels.get(channel);
    if (all?.delete(handlers) !== true || all.size > 0) return false;
    return this.#channels.delete(channel);
  }

  async #unlisten(channel: string, handlers: NotificationHandlers): Promise<void> {
    if (!this.#remove(channel, handlers)) return;
    await this.#inTurn(async () => {
      if (this.#channels.has(channel)) return;
      // A lost connection listens to no channel, and the next connection only to channels with handlers.
      await this.#connection?.sql.unsafe(`unlisten "${channel}"`).catch(() => undefined);
    });
  }

  /** The open connection, or a new connection that listens to every channel. The calls are made one after another. */
  async #connect(): Promise<Connection> {
    if (this.#ended.signal.aborted) throw new SqlUnavailableError('ENDED');
    if (this.#connection !== undefined) return this.#connection;
    const client: SqlClient = this.#options.open({
      onLost: () => this.#lose(client),
      onNotify: (channel, payload) => {
        for (const { onNotify } of this.#channels.get(channel) ?? []) onNotify(payload);
      },
    });
    const connection = { client, sql: templateOver(client, this.#options.answerMs) };
    this.#connection = connection;
    try {
      for (const channel of this.#channels.keys()) await connection.sql.unsafe(`listen "${channel}"`);
      if (client.isLost()) throw new SqlUnavailableError('CONNECTION_LOST');
    } catch (error) {
      client.discard();
      throw error;
    }
    void this.#watch(connection);
    if (this.#isGap) {
      this.#isGap = false;
      for (const all of this.#channels.values()) for (const { onGap } of all) onGap();
    }
    return connection;
  }

  #lose(client: SqlClient): void {
    if (this.#connection?.client !== client) return;
    this.#connection = undefined;
    this.#isGap = true;
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    if (this.#isReopening) return;
    this.#isReopening = true;
    const { signal } = this.#ended;
    const backoff = createBackoff({ ...reconnect, resetAfterMs: Number.POSITIVE_INFINITY, now: () => 0 });
    while (this.#connection === undefined && this.#channels.size > 0 && !signal.aborted) {
      await wait(backoff.next(), signal);
      await this.#inTurn(() => this.#connect()).catch(() => undefined);
    }
    this.#isReopening = false;
  }

  /** Discards a connection that does not answer. */
  async #watch({ client, sql }: Connection): Promise<void> {
    for (;;) {
      await wait(this.#options.checkEveryMs, this.#ended.signal);
      if (client.isLost() || this.#ended.signal.aborted) return;
      await sql.unsafe('select 1').catch(() => client.discard());
    }
  }
}

function templateOver(client: SqlClient, answerMs: number) {
  const send: Send = (query, done) => {
    done((error) => {
      if (error instanceof SqlUnavailableError) client.discard();
    });
    if (client.isLost()) query.reject(new SqlUnavailableError('CONNECTION_LOST'));
    else client.execute(query);
  };
  return statementsOver(client.raw, send, answerMs, {});
}
