import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { unusedPort } from '#kit/testing/loopback';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { eventReceiverSuite, sentEvent } from '../../../testing/event-receiver-suite.ts';
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
  let server = await listen(await unusedPort());
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

test('an answer about the event refuses it, and an answer about the address, the secret or the time is a failure', async () => {
  let status = 0;
  await using server = await startScriptedHttp((response) => response.writeHead(status).end());
  await using receiver = createWebhookReceiver(new URL(server.url), { first: () => 'a-secret' });
  const outcomes = {
    delivered: [200, 202, 204],
    refused: [400, 402, 406, 409, 411, 412, 413, 415, 422, 451],
    failed: [301, 307, 401, 403, 404, 405, 407, 408, 410, 421, 425, 429, 500, 502, 503, 504],
  };
  for (const [outcome, statuses] of Object.entries(outcomes)) {
    for (status of statuses) {
      const event = sentEvent('01890a5d-ac96-774b-bcce-b302099a8091', 1);
      expect([status, await receiver.deliver(event, new AbortController().signal)]).toEqual([status, outcome]);
    }
  }
});
