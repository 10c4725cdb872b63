import { ConfigError, setting } from '#kit/env/read-environment';
import type { NatsOptions } from '#queue/adapters/nats/nats-queue';

/** Settings of the receiver to which events of agents are sent. */
export const eventSettings = {
  PORTCULLIS_EVENTS_URL: setting.optional(
    setting.url({ help: 'webhook that gets the events of agents as CloudEvents; without it none are delivered' }),
  ),
  PORTCULLIS_EVENTS_SECRET_FILE: setting.optional(
    setting.file({ help: 'secret that signs the events; required with PORTCULLIS_EVENTS_URL, read again on change' }),
  ),
  PORTCULLIS_EVENTS_NATS_URL: setting.optional(
    setting.string({
      help: 'nats://host:port or tls://host:port of NATS JetStream, which gets the events in place of a webhook',
    }),
  ),
  PORTCULLIS_EVENTS_NATS_STREAM: setting.string({
    help: 'stream of the events in NATS, created if absent',
    default: 'portcullis-agents',
  }),
  PORTCULLIS_EVENTS_NATS_CREDENTIALS_FILE: setting.optional(
    setting.file({ help: 'credentials file of NATS for the events, read again for every connection' }),
  ),
  PORTCULLIS_EVENTS_NATS_CA_FILE: setting.optional(
    setting.file({ help: 'certificates in PEM that sign those of that NATS; with it every connection uses TLS' }),
  ),
  PORTCULLIS_EVENTS_SOURCE: setting.string({
    help: 'source of the events: a URI that names this installation',
    default: '/portcullis/catalogue',
  }),
};

type EventValues = {
  readonly PORTCULLIS_EVENTS_URL: URL | undefined;
  readonly PORTCULLIS_EVENTS_SECRET_FILE: string | undefined;
  readonly PORTCULLIS_EVENTS_NATS_URL: string | undefined;
  readonly PORTCULLIS_EVENTS_NATS_STREAM: string;
  readonly PORTCULLIS_EVENTS_NATS_CREDENTIALS_FILE: string | undefined;
  readonly PORTCULLIS_EVENTS_NATS_CA_FILE: string | undefined;
  readonly PORTCULLIS_EVENTS_SOURCE: string;
};

/** A receiver of events, and the `source` of the events: a URI that names the installation. */
export type EventsConfig = { readonly source: string } & (
  | { readonly kind: 'webhook'; readonly url: URL; readonly secretFile: string }
  | { readonly kind: 'nats'; readonly nats: NatsOptions }
);

/** Reads the settings of the events; undefined if no events are delivered. @throws ConfigError */
export function eventReceiverOf(read: EventValues): EventsConfig | undefined {
  const { PORTCULLIS_EVENTS_URL: url, PORTCULLIS_EVENTS_SECRET_FILE: secretFile } = read;
  const source = read.PORTCULLIS_EVENTS_SOURCE;
  const nats = natsOf(read);
  if ((url === undefined) !== (secretFile === undefined)) {
    throw new ConfigError(['PORTCULLIS_EVENTS_URL and PORTCULLIS_EVENTS_SECRET_FILE must be set together']);
  }
  if (nats !== undefined && url !== undefined) {
    throw new ConfigError(['PORTCULLIS_EVENTS_URL and PORTCULLIS_EVENTS_NATS_URL are two receivers: set one of them']);
  }
  if (nats !== undefined) return { kind: 'nats', nats, source };
  return url === undefined || secretFile === undefined ? undefined : { kind: 'webhook', url, secretFile, source };
}

function natsOf(read: EventValues): NatsOptions | undefined {
  const { PORTCULLIS_EVENTS_NATS_URL: url, PORTCULLIS_EVENTS_NATS_STREAM: stream } = read;
  const [credentials, ca] = [read.PORTCULLIS_EVENTS_NATS_CREDENTIALS_FILE, read.PORTCULLIS_EVENTS_NATS_CA_FILE];
  if (url === undefined) return undefined;
  // The value is not repeated: people write passwords into addresses.
  if (!/^(?:nats|tls):\/\/[^\s@/?#]+$/.test(url)) {
    throw new ConfigError(['PORTCULLIS_EVENTS_NATS_URL must be nats://host:port or tls://host:port, without a user']);
  }
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(stream)) {
    throw new ConfigError(['PORTCULLIS_EVENTS_NATS_STREAM must have 1 to 100 letters, digits, _ or -']);
  }
  return {
    servers: [url],
    stream,
    clientName: 'portcullis-catalogue',
    ...(credentials === undefined ? {} : { credentials: { kind: 'creds', file: credentials } }),
    ...(ca === undefined ? {} : { tls: { caFile: ca } }),
  };
}
