import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import { publishedSdkCard, readSdkCard } from '#contracts/sdk-card';
import { neverConnected } from '#kit/http/never-connected';
import { readBounded } from '#kit/http/read-bounded';
import { type JsonValue, parseStrict } from '#kit/json/parse-strict';
import type { RoutedVersion } from '#resources/agent-route';
import type { RouteProof } from '../../routes/follow-proved.ts';

/** One call to the process of a version. */
export type ProcessCall = {
  /** Origin of the process. */
  readonly address: string;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable | undefined;
};

export type ProcessAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Readable;
    }
  | {
      readonly kind: 'unreachable';
      /** Whether a part of the call may have reached the process. */
      readonly wasSent: boolean;
    };

/** A verified card: its members, and its canonical bytes. */
type VerifiedCard = { readonly card: Readonly<Record<string, JsonValue>>; readonly bytes: Buffer };

/** The HTTP client for processes of agents: no redirects, no retries, so that no run starts twice. */
export type AgentClient = AsyncDisposable & {
  /** Rejects only with the reason of the signal. */
  call(call: ProcessCall, signal: AbortSignal): Promise<ProcessAnswer>;
  /** Whether the process of a version is ready and has the same card as its route. */
  prove(version: RoutedVersion, signal: AbortSignal): Promise<RouteProof>;
  /** The card of a version; undefined if it cannot be read or differs from the route. Never rejects. */
  cardOf(version: RoutedVersion): Promise<VerifiedCard | undefined>;
};

const connectMs = 2_000;
const probeMs = 5_000;
/** Largest card, bytes. */
const maxCardBytes = 262_144;
/** Maximum number of cards that are kept; a version never changes its card. */
const maxCards = 1_024;

export function createAgentClient(): AgentClient {
  const agent = new Agent({
    pipelining: 1,
    connectTimeout: connectMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 32_768,
    maxOrigins: 4_096,
  });
  const cards = new Map<string, VerifiedCard>();

  const call: AgentClient['call'] = async ({ address, method, path, headers, body }, signal) => {
    try {
      const answer = await agent.request({
        origin: address,
        path,
        method: method as 'GET',
        headers,
        body: body ?? null,
        signal,
      });
      return { kind: 'answer', status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return { kind: 'unreachable', wasSent: !neverConnected(error) };
    }
  };

  async function get(address: string, path: string, signal: AbortSignal): Promise<Buffer | number | undefined> {
    try {
      const headers = { accept: 'application/json' };
      const answer = await call({ address, method: 'GET', path, headers, body: undefined }, signal);
      if (answer.kind === 'unreachable') return undefined;
      const bytes = await readBounded(answer.body, maxCardBytes);
      return answer.status === 200 ? bytes : answer.status;
    } catch {
      return undefined;
    }
  }

  async function readCard(version: RoutedVersion, signal: AbortSignal): Promise<VerifiedCard | RouteProof> {
    const { address, cardDigest = '' } = version;
    const held = cards.get(cardDigest);
    const bytes = await get(address, '/.well-known/agent-card.json', signal);
    if (bytes === undefined) return { ok: false, code: 'network', reached: false };
    if (typeof bytes === 'number') return { ok: false, code: 'card_missing', reached: bytes < 500 };
    const card = publishedCard(version, objectOf(bytes));
    if (card === undefined || digestOf(card) !== cardDigest) return { ok: false, code: 'card_differs', reached: true };
    if (held !== undefined) return held;
    const [oldest] = cards.keys();
    if (cards.size >= maxCards && oldest !== undefined) cards.delete(oldest);
    const read = { card, bytes: Buffer.from(canonicalBytes(card)) };
    cards.set(cardDigest, read);
    return read;
  }

  return {
    call,
    async prove(version, signal) {
      const time = AbortSignal.any([signal, AbortSignal.timeout(probeMs)]);
      if (version.cardDigest !== undefined) {
        const read = await readCard(version, time);
        return 'card' in read ? { ok: true } : read;
      }
      const ready = await get(version.address, '/health/ready', time);
      return Buffer.isBuffer(ready) ? { ok: true } : { ok: false, code: 'not_ready', reached: false };
    },
    async cardOf(version) {
      if (version.cardDigest === undefined) return undefined;
      const held = cards.get(version.cardDigest);
      if (held !== undefined) return held;
      const read = await readCard(version, AbortSignal.timeout(probeMs));
      return 'card' in read ? read : undefined;
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

/** The card of an image is published as in the route; other processes publish their card themselves. */
function publishedCard(
  { sdk }: RoutedVersion,
  card: Readonly<Record<string, JsonValue>> | undefined,
): Readonly<Record<string, JsonValue>> | undefined {
  if (sdk === undefined || card === undefined) return card;
  const read = readSdkCard(card);
  return read.ok ? (publishedSdkCard(read.card, sdk.publicUrl) as Readonly<Record<string, JsonValue>>) : undefined;
}

function objectOf(bytes: Buffer): Readonly<Record<string, JsonValue>> | undefined {
  try {
    const value = parseStrict(bytes);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, JsonValue>>)
      : undefined;
  } catch {
    return undefined;
  }
}
