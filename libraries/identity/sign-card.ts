import { CompactSign } from 'jose';
import { canonicalBytes } from '#contracts/canonical';
import type { JsonValue } from '#kit/json/json-value';
import type { GatewayKey } from './gateway-token.ts';

type Json = Readonly<Record<string, JsonValue>>;

/**
 * The signature of an agent card of A2A 1.0: a JWS (RFC 7515) with detached payload, the canonical JSON (RFC 8785) of
 * the card without signatures and without empty texts, lists and objects. Members that become empty in this way are
 * omitted too, because both official SDKs verify exactly this content. EdDSA gives equal signatures for equal cards, so
 * that all replicas answer with the same bytes.
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
  return withoutEmpty(card) ?? {};
}

/** The value without empty members and elements, including those that become empty; undefined if nothing is left. */
function withoutEmpty(value: JsonValue): JsonValue | undefined {
  if (value === '' || value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const elements = value.map(withoutEmpty).filter((element) => element !== undefined);
    return elements.length === 0 ? undefined : elements;
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = withoutEmpty(member);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
