import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventReceiverSuite } from '../../../testing/event-receiver-suite.ts';
import type { CloudEvent } from '../../ports.ts';
import { createWebhookReceiver } from './webhook-receiver.ts';

eventReceiverSuite(async () => {
  const received: CloudEvent[] = [];
  const listen = (port: number) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer(async (incoming, outgoing) => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks).toString();
        const isTaken = body.length <= 1_500;
        if (isTaken) received.push(JSON.parse(body) as CloudEvent);
        outgoing.writeHead(isTaken ? 204 : 413).end();
      });
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    connect: () => createWebhookReceiver(new URL(`http://127.0.0.1:${port}/`), { first: () => 'a-secret' }),
    received: async () => received,
    stop: end,
    async start() {
      server = await listen(port);
    },
    [Symbol.asyncDispose]: end,
  };
});
