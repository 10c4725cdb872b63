import { setImmediate as pendingWrites } from 'node:timers/promises';
import type { ConsumerMessages, JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { LoggedMessage } from '../../ports.ts';
import { authenticatorOf, type NatsCredentials } from './credentials.ts';

export type NatsOptions = {
  /**
   * Addresses `nats://host:port`, or `tls://host:port`, which never continues without TLS; several servers belong to
   * one cluster.
   */
  readonly servers: readonly string[];
  /**
   * Name of the stream, which is created if it is absent: letters, digits, `_` and `-`. Its subjects begin with the
   * name.
   */
  readonly stream: string;
  /** Copies of the stream in a cluster of servers; 1 by default. An existing stream is not changed. */
  readonly replicas?: number;
  readonly credentials?: NatsCredentials;
  /** Files in PEM that are read for every connection. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** The name of the client in the server's list of connections. */
  readonly clientName: string;
  /** Timeout of a connection attempt and of a request, milliseconds; 5,000 by default. */
  readonly timeoutMs?: number;
};

const usualTimeoutMs = 5_000;
/** A server that does not answer a ping for twice this time counts as lost, milliseconds. */
const pingMs = 10_000;
const reconnectMs = 500;
/** A pull ends after this time and is repeated; the server sends heartbeats twice as often. */
const pullMs = 10_000;

type Drivers = {
  readonly core: typeof import('@nats-io/transport-node');
  readonly jetstream: typeof import('@nats-io/jetstream');
};

type Link = Drivers & {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  /** Aborted, and replaced by a new controller, each time a lost connection is restored. */
  lost: AbortController;
};

/** The hints that are received until they are stopped, or until `lost` is aborted. */
type Reception = { readonly messages: ConsumerMessages; readonly lost: AbortSignal };

/** The retention of a stream; an existing stream is not changed. */
type StreamRetention = {
  /** Maximum number of messages of one subject; no limit when absent. */
  readonly mostOfSubject?: number;
  readonly hours: number;
};

/** A stream of messages over one connection, which the driver reopens after each loss. */
export class NatsStream implements AsyncDisposable {
  readonly #options: NatsOptions;
  readonly #retention: StreamRetention;
  #link: Promise<Link> | undefined;
  #isEnded = false;

  constructor(options: NatsOptions, retention: StreamRetention) {
    this.#options = options;
    this.#retention = retention;
  }

  /**
   * Resolves when the server has stored a message, which is empty when absent. The server drops a message whose id it
   * has received within the last two minutes. Rejects with an error of the driver.
   */
  async publish(topic: string, message?: LoggedMessage): Promise<void> {
    const link = await this.#open();
    const expect = { streamName: this.#options.stream };
    const headers = link.core.headers();
    if (message !== undefined) headers.set('content-type', message.contentType);
    const own = message === undefined ? {} : { msgID: message.id, headers };
    const publish = () => link.client.publish(this.#subject(topic), message?.body ?? '', { expect, ...own });
    try {
      await publish();
    } catch (error) {
      if (error instanceof link.core.TimeoutError) throw error;
      // If no stream accepts the subject, the driver reports that JetStream is not enabled.
      await this.#ensureStream(link);
      await publish();
    }
  }

  /** Receives the kept message of a topic, then every later message. Rejects with an error of the driver. */
  async receive(topic: string): Promise<Reception> {
    const link = await this.#open();
    const { signal: lost } = link.lost;
    await this.#ensureStream(link);
    const consumer = await link.client.consumers.get(this.#options.stream, {
      filter_subjects: this.#subject(topic),
      deliver_policy: link.jetstream.DeliverPolicy.LastPerSubject,
    });
    const messages = await consumer.consume({ expires: pullMs, abort_on_missing_resource: true });
    void stopWhenAbsent(messages);
    return { messages, lost };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    const link = await this.#link?.catch(() => undefined);
    // The driver ignores the error of a write to a socket that the server has closed, but once the driver itself closes
    // the socket, the error would be uncaught. Therefore pending writes are awaited first.
    await pendingWrites();
    await link?.connection.close();
  }

  #subject(topic: string): string {
    return `${this.#options.stream}.${topic}`;
  }

  #open(): Promise<Link> {
    if (this.#isEnded) return Promise.reject(new DOMException('the queue is disposed', 'AbortError'));
    const link = this.#link ?? this.#connect();
    this.#link = link;
    const forget = (): void => {
      if (this.#link === link) this.#link = undefined;
    };
    link.then(({ connection }) => connection.closed().then(forget), forget);
    return link;
  }

  async #connect(): Promise<Link> {
    const { servers, tls, credentials, clientName, timeoutMs = usualTimeoutMs } = this.#options;
    // Imported on demand: most processes have no queue in NATS.
    const [core, jetstream] = await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')]);
    const isEncrypted = tls !== undefined || servers.some((server) => server.startsWith('tls:'));
    const connection = await core.connect({
      servers: [...servers],
      name: clientName,
      timeout: timeoutMs,
      pingInterval: pingMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectMs,
      // A rotated credential is refused until its file is updated.
      ignoreAuthErrorAbort: true,
      ...(isEncrypted ? { tls: { ...tls } } : {}),
      ...(credentials === undefined ? {} : { authenticator: authenticatorOf(core, credentials) }),
    });
    const client = jetstream.jetstream(connection, { timeout: timeoutMs });
    const link: Link = { core, jetstream, connection, client, lost: new AbortController() };
    void followStatus(link);
    return link;
  }

  async #ensureStream(link: Link): Promise<void> {
    const { stream, replicas = 1 } = this.#options;
    const { mostOfSubject, hours } = this.#retention;
    const manager = await link.client.jetstreamManager(false);
    try {
      await manager.streams.info(stream);
    } catch (error) {
      if (!isAbsent(link, error)) throw error;
      await manager.streams.add({
        name: stream,
        subjects: [`${stream}.*`],
        ...(mostOfSubject === undefined ? {} : { max_msgs_per_subject: mostOfSubject }),
        max_age: link.core.nanos(hours * 3_600_000),
        num_replicas: replicas,
      });
    }
  }
}

async function followStatus(link: Link): Promise<void> {
  for await (const { type } of link.connection.status()) {
    if (type !== 'reconnect') continue;
    const { lost } = link;
    link.lost = new AbortController();
    lost.abort();
  }
  link.lost.abort();
}

/** The driver retries forever if the stream or its consumer does not exist. */
async function stopWhenAbsent(messages: ConsumerMessages): Promise<void> {
  const ends = new Set(['heartbeats_missed', 'consumer_not_found', 'stream_not_found', 'consumer_deleted']);
  for await (const { type } of messages.status()) if (ends.has(type)) messages.stop();
}

function isAbsent({ jetstream }: Drivers, error: unknown): boolean {
  return error instanceof jetstream.JetStreamApiError && error.code === jetstream.JetStreamApiCodes.StreamNotFound;
}
