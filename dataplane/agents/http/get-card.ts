import { sendBytes } from '#kit/http/json-answer';
import { AgentError } from '../calls/agent-error.ts';
import type { AgentServer } from './agent-server.ts';
import { type Exchange, refuseWithProblem } from './exchange.ts';

/** How long clients may cache a card, seconds; a version never changes its card. */
const maxAge = 300;

/** GET /.well-known/agent-card.json, without identity and version (`agents:order:health-and-card-exempt`). */
export function getCard({ profiles, startedAt }: AgentServer, exchange: Exchange): void {
  const { card } = profiles;
  if (card === undefined) {
    refuseWithProblem(exchange, new AgentError('not_found'));
    return;
  }
  const { incoming, outgoing } = exchange;
  const etag = `"${card.digest}"`;
  const headers = {
    etag,
    'cache-control': `public, max-age=${maxAge}`,
    'last-modified': startedAt.toUTCString(),
  };
  const known = (incoming.headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known.includes(etag)) {
    outgoing.writeHead(304, headers).end();
    return;
  }
  sendBytes(outgoing, 200, 'application/json', card.bytes, headers);
}
