import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A DNS server on loopback whose answer changes with each query. */
export type ChangingDns = AsyncDisposable & {
  /** The IPv4 addresses in the answers to the next queries, one list for each query; the last list is repeated. */
  answers: (readonly string[])[];
  /** Returns the number of queries for an IPv4 address up to now. */
  readonly asked: () => number;
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
};

const typeA = 1;

/** Answers queries of type A (RFC 1035, section 4.1); all other queries get an empty answer. */
export async function startChangingDns(): Promise<ChangingDns> {
  const socket: Socket = createSocket('udp4');
  let asked = 0;
  const dns: Pick<ChangingDns, 'answers'> = { answers: [] };
  socket.on('message', (question, peer) => {
    const end = question.indexOf(0, 12) + 5;
    const isA = question.readUInt16BE(end - 4) === typeA;
    const addresses = isA ? ((dns.answers.length > 1 ? dns.answers.shift() : dns.answers[0]) ?? []) : [];
    if (isA) asked += 1;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8580, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(
      Buffer.concat([header, question.subarray(12, end), ...addresses.map(recordOf)]),
      peer.port,
      peer.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${(socket.address() as AddressInfo).port}`]);
  return Object.assign(dns, {
    asked: () => asked,
    resolve: (hostname: string) => resolver.resolve4(hostname),
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  });
}

/** A record whose name points to the question, with a TTL of 0. */
function recordOf(address: string): Buffer {
  const record = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
  for (const [at, byte] of address.split('.').entries()) record.writeUInt8(Number(byte), 12 + at);
  return record;
}
