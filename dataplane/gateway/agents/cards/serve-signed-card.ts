import { createHash } from 'node:crypto';
import type { GatewayKeyRing } from '#identity/gateway-key-ring';
import { signCard } from '#identity/sign-card';
import { sendBytes } from '#kit/http/json-answer';
import type { RoutedVersion } from '#resources/agent-route';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AgentExchange } from '../calls/refuse-call.ts';
import type { AgentClient } from '../relay/agent-client.ts';

/** How long clients may cache a card, seconds. */
const maxAge = 60;
/** Maximum number of signed cards that are kept. */
const maxSigned = 1_024;

export type CardParts = { readonly keys: GatewayKeyRing; readonly client: AgentClient };

type SignedCard = { readonly bytes: Buffer; readonly etag: string };
const signed = new WeakMap<AgentClient, Map<string, SignedCard>>();

/**
 * Answers with the card of a version and the signature of this gateway. The card has the digest that the route names;
 * every replica answers with equal bytes.
 * @throws AgentRefusal agent_unavailable
 */
export async function serveSignedCard(
  plane: CardParts,
  version: RoutedVersion,
  exchange: AgentExchange,
): Promise<void> {
  const { incoming, outgoing, trace } = exchange;
  const card = await signedCardOf(plane, version);
  const headers = {
    traceparent: trace.traceparent,
    etag: card.etag,
    // The answer depends on the caller unless the card is public, so that a cache must not return it to another caller.
    'cache-control': `private, max-age=${maxAge}`,
    vary: 'authorization',
  };
  const known = (incoming.headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known.includes(card.etag)) {
    outgoing.writeHead(304, headers).end();
    return;
  }
  sendBytes(outgoing, 200, 'application/json', card.bytes, headers);
}

async function signedCardOf(plane: CardParts, version: RoutedVersion): Promise<SignedCard> {
  const key = await plane.keys.signingKey();
  const held = signed.get(plane.client) ?? new Map<string, SignedCard>();
  signed.set(plane.client, held);
  const name = `${version.cardDigest}/${key.kid}`;
  const before = held.get(name);
  if (before !== undefined) return before;
  const verified = await plane.client.cardOf(version);
  if (verified === undefined) throw new AgentRefusal('agent_unavailable');
  const { signatures: _, ...card } = verified.card;
  const bytes = Buffer.from(JSON.stringify({ ...card, signatures: [await signCard(card, key)] }));
  const made = { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` };
  const [oldest] = held.keys();
  if (held.size >= maxSigned && oldest !== undefined) held.delete(oldest);
  held.set(name, made);
  return made;
}
