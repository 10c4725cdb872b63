// Usage: bare-relay.ts ORIGIN: the baseline for a gateway. It forwards each request to the provider on kept connections
// and sends the answer as it arrives, with the calls that Node's own documentation shows.
import { Agent, createServer, request } from 'node:http';
import { writeReadyLine } from '#kit/process/ready';

const { hostname, port } = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const sent = request({ hostname, port, agent, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  incoming.pipe(sent);
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') writeReadyLine({ listening: `http://127.0.0.1:${address?.port}` });
});
process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
