import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres } from '#sql/testing/test-database';
import { createLogReceiver } from '../../dataplane/catalogue/events/adapters/log/log-receiver.ts';
import { eventReceiverSuite } from '../../dataplane/catalogue/testing/event-receiver-suite.ts';
import { openCatalogue } from '../../dataplane/catalogue/testing/open-catalogue.ts';
import { createNatsLog } from '../../libraries/queue/adapters/nats/nats-log.ts';
import { natsProgram, startNats } from '../retrieval/nats-server.ts';
import { streamMessages } from './stream-messages.ts';

const stream = 'agents';

describe.skipIf(natsProgram.missing !== undefined)(natsProgram.on('events of agents in NATS'), () => {
  eventReceiverSuite(async () => {
    const folder = temporaryFolder();
    let server = await startNats({ folder: folder.path });
    const { port, url } = server;
    const connection = await connect({ servers: url });
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: stream, subjects: [`${stream}.*`], max_msg_size: 1_500 });
    await connection.close();
    return {
      connect: () =>
        createLogReceiver(createNatsLog({ servers: [url], stream, clientName: 'test', timeoutMs: 1_000 }, 1)),
      received: async () => (await streamMessages(url, stream)).map(({ event }) => event),
      stop: () => server.end(),
      async start() {
        server = await startNats({ folder: folder.path, port });
      },
      async [Symbol.asyncDispose]() {
        await server.end();
        folder[Symbol.dispose]();
      },
    };
  });

  test.skipIf(missingPostgres !== undefined)(
    'the relay creates the stream and stores each change of an agent under its id',
    async () => {
      using folder = temporaryFolder();
      const server = await startNats({ folder: folder.path });
      await using _server = { [Symbol.asyncDispose]: () => server.end() };
      const nats = { servers: [server.url], stream, clientName: 'portcullis-catalogue' };
      const events = { kind: 'nats', nats, source: '/test' } as const;
      await using world = await openCatalogue({ config: { events } });
      const agent = await world.publish('stored');
      world.resources.remove('agents', 'stored');
      const kept = await until('its events are stored', async () => {
        const found = await streamMessages(server.url, stream).catch(() => []);
        return found.length === 3 ? found : undefined;
      });
      const types = kept.map(({ event }) => [
        Number(event.sequence),
        event.type.replace('dev.portcullis.catalogue.', ''),
      ]);
      expect(types).toEqual([
        [1, 'agent.version.selected'],
        [2, 'agent.activated'],
        [3, 'agent.removed'],
      ]);
      expect(new Set(kept.map(({ subject }) => subject))).toEqual(new Set([`${stream}.${agent.agentId}`]));
    },
  );
});
