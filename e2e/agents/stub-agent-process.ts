// Usage: stub-agent-process.ts VERSION RUNS_FILE: answers runs as a version of an agent does, without a flow. A line of
// RUNS_FILE names each run before it begins, also after the process was killed.
import { appendFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { writeReadyLine } from '#kit/process/ready';
import { stubCard } from './stub-card.ts';

const [version = '', runsFile = ''] = process.argv.slice(2);
const events = 10;
const everyMs = 20;

const server = createServer(async (incoming, outgoing) => {
  try {
    if (incoming.method === 'GET') return void outgoing.end(JSON.stringify(stubCard));
    const { id } = (await json(incoming)) as { readonly id: string };
    appendFileSync(runsFile, `${id} ${version}\n`);
    if (incoming.url === '/message:stream') return await stream(id, outgoing);
    await pause(everyMs);
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, version }));
  } catch {
    outgoing.destroy();
  }
});

async function stream(id: string, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let at = 0; at < events && !outgoing.destroyed; at += 1) {
    outgoing.write(`data: ${JSON.stringify({ id, version, at, isLast: at === events - 1 })}\n\n`);
    await pause(everyMs);
  }
  outgoing.end();
}

server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') writeReadyLine({ listening: `http://127.0.0.1:${address?.port}` });
});
// Ends at once, so that a call that is still open breaks.
process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
