// Usage: stub-agent-process.ts VERSION RUNS_FILE [EVENTS EVERY_MS KEEP_ALIVE_MS]: answers runs like a version of an
// agent, but without a flow. Each run is written to RUNS_FILE as one line before it begins, so that the line exists
// even if the process is killed; with an empty name nothing is written. With PORTCULLIS_AGENT_GATEWAY_URL each stream
// exchanges its grant in the middle, and ends with an error if the gateway issues no token.
import { appendFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { writeReadyLine } from '#kit/process/ready';
import { exchangeGrant } from '../../dataplane/gateway/agents/testing/exchange-grant.ts';
import { stubCard } from './stub-card.ts';

const [version = '', runsFile = '', eventCount = '10', interval = '20', keepAlive = '65000'] = process.argv.slice(2);
const gateway = process.env['PORTCULLIS_AGENT_GATEWAY_URL'];
const events = Number(eventCount);
const everyMs = Number(interval);

const server = createServer(async (incoming, outgoing) => {
  try {
    if (incoming.method === 'GET') return void outgoing.end(JSON.stringify(stubCard));
    const { id, bytes = 0 } = (await json(incoming)) as { readonly id: string; readonly bytes?: number };
    if (runsFile !== '') appendFileSync(runsFile, `${id} ${version}\n`);
    const grant = String(incoming.headers['x-portcullis-run-grant']);
    if (incoming.url === '/message:stream') return await stream({ id, bytes, grant }, outgoing);
    if (everyMs > 0) await pause(everyMs);
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, version }));
  } catch {
    outgoing.destroy();
  }
});

type Run = { readonly id: string; readonly bytes: number; readonly grant: string };

/** Sends a stream of events, each with `bytes` additional bytes. */
async function stream({ id, bytes, grant }: Run, outgoing: ServerResponse): Promise<void> {
  const padding = bytes === 0 ? {} : { padding: 'x'.repeat(bytes) };
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let at = 0; at < events && !outgoing.destroyed; at += 1) {
    if (gateway !== undefined && at === Math.floor(events / 2) && !(await hasToken(gateway, grant))) {
      const error = { details: [{ reason: 'grant_ended' }] };
      return void outgoing.end(`event: error\ndata: ${JSON.stringify({ error })}\n\n`);
    }
    outgoing.write(`data: ${JSON.stringify({ id, version, at, isLast: at === events - 1, ...padding })}\n\n`);
    await (everyMs > 0 ? pause(everyMs) : afterWrites(outgoing));
  }
  outgoing.end();
}

/** Whether the run may call a model now. */
async function hasToken(url: string, grant: string): Promise<boolean> {
  const { status } = await exchangeGrant(url, { grant, audience: 'urn:portcullis:models' });
  return status === 200;
}

/** Each event is a separate write to the socket. */
function afterWrites(outgoing: ServerResponse): Promise<void> {
  if (outgoing.writableNeedDrain)
    return new Promise((resolve) => outgoing.once('drain', resolve).once('close', resolve));
  return new Promise((resolve) => setImmediate(resolve));
}

server.keepAliveTimeout = Number(keepAlive);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') writeReadyLine({ listening: `http://127.0.0.1:${address?.port}` });
});
// Ends immediately, so that a call that is still open breaks.
process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
