import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { closeServer, listenOnLoopback, unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { CloudEvent } from '../../dataplane/catalogue/events/ports.ts';
import { startNats } from '../retrieval/nats-server.ts';
import { streamMessages } from './stream-messages.ts';

/** A place that receives events and ends as if its power failed. */
export type EndingReceiver = AsyncDisposable & {
  /** Settings of the catalogue. */
  readonly environment: Readonly<Record<string, string>>;
  end(): Promise<void>;
  start(): Promise<void>;
  /** The events that arrived, in their order. */
  received(): Promise<readonly CloudEvent[]>;
};

const stream = 'agents';

/** A server of NATS with a stream in a folder. */
export async function startEndingNats(): Promise<EndingReceiver> {
  const folder = temporaryFolder();
  let server = await startNats({ folder: folder.path });
  const { port, url } = server;
  return {
    environment: { PORTCULLIS_EVENTS_NATS_URL: url, PORTCULLIS_EVENTS_NATS_STREAM: stream },
    end: () => server.end(),
    async start() {
      server = await startNats({ folder: folder.path, port });
    },
    received: async () => (await streamMessages(url, stream)).map(({ event }) => event),
    async [Symbol.asyncDispose]() {
      await server.end();
      folder[Symbol.dispose]();
    },
  };
}

/**
 * A webhook that stores the requests that it receives; its end breaks every connection, even after it has read an
 * event.
 */
export async function startEndingWebhook(): Promise<EndingReceiver> {
  const folder = temporaryFolder();
  const secretFile = join(folder.path, 'events.secret');
  writeFileSync(secretFile, 'a-secret-of-events-with-enough-characters\n');
  const events: CloudEvent[] = [];
  const port = await unusedPort();
  let server: Server | undefined;
  async function start(): Promise<void> {
    server = createServer((incoming, outgoing) => {
      readText(incoming)
        .then((body) => {
          events.push(JSON.parse(body) as CloudEvent);
          outgoing.writeHead(204).end();
        })
        // A client that was killed, or the end of this server, breaks the connection.
        .catch(() => outgoing.destroy());
    });
    await listenOnLoopback(server, port);
  }
  async function end(): Promise<void> {
    if (server?.listening === true) await closeServer(server);
  }
  await start();
  return {
    environment: {
      PORTCULLIS_EVENTS_URL: `http://127.0.0.1:${port}/hook`,
      PORTCULLIS_EVENTS_SECRET_FILE: secretFile,
    },
    end,
    start,
    received: async () => events,
    async [Symbol.asyncDispose]() {
      await end();
      folder[Symbol.dispose]();
    },
  };
}
