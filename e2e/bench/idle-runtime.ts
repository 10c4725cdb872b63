// A server that replaces a runtime and passes every check unread. It is used to measure the cost of the connection to a
// runtime alone.
import { createServer } from 'node:http';
import { writeReadyLine } from '#kit/process/ready';

const pass = JSON.stringify({ action: { reason: 'policy_pass' } });
/** The response of a runtime to a gateway's probe, a check without messages. */
const noMessages = JSON.stringify({ code: 'message_limit', message: 'no messages', traceId: '0'.repeat(32) });
const probe = Buffer.from('{"body":{"messages":[]}}');

const server = createServer((incoming, outgoing) => {
  const parts: Buffer[] = [];
  incoming.on('data', (part: Buffer) => parts.push(part));
  incoming.on('end', () => {
    const empty = Buffer.concat(parts).equals(probe);
    const text = empty ? noMessages : pass;
    outgoing.writeHead(empty ? 422 : 200, { 'content-type': 'application/json', 'content-length': text.length });
    outgoing.end(text);
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') writeReadyLine({ listening: `http://127.0.0.1:${address?.port}` });
});
process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
