import { CompactSign } from 'jose';
import { canonicalBytes } from '#contracts/canonical';
import type { JsonValue } from '#kit/json/json-value';
import type { GatewayKey } from './gateway-token.ts';

type Json = Readonly<Record<string, JsonValue>>;

/**
 * The signature of an agent card of A2A 1.0: a JWS (RFC 7515) with detached payload, the canonical JSON (RFC
 * 8785) of the card without signatures and without empty lists, maps and texts, which Protocol Buffers do not carry.
 * EdDSA gives equal signatures for equal cards, so that all replicas answer with the same bytes.
 */
export async function signCard(
  card: Json,
  { kid, privateKey }: GatewayKey,
): Promise<{ readonly protected: string; readonly signature: string }> {
  const payload = canonicalBytes(signedCard(card));
  const jws = await new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', typ: 'JOSE', kid }).sign(privateKey);
  const [header = '', , signature = ''] = jws.split('.');
  return { protected: header, signature };
}

/** The content that a signature of a card covers. */
function signedCard({ signatures: _, ...card }: Json): JsonValue {
  return withoutDefaults(card);
}

function withoutDefaults(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, member]) => !isDefault(member));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDefaults(member)]));
}

function isDefault(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || value === null;
}
