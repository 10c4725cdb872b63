import { type Bundle, bundleSchemaName, defaultBundleLimits } from '#contracts/bundle';
import { limits } from '#contracts/limits';
import type { BaselineRule, Section } from '#contracts/policy';
import { contextHeaders, currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import type { GatewayRoute, GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import { type GuardedGateway, startGuardedGateway } from '../support/start-guarded-gateway.ts';
import { createStreamClient, type StreamClient } from './ask-gateway.ts';
import { type CuttingProvider, startCuttingProvider } from './cutting-provider.ts';
import { judgeStream } from './judge-stream.ts';
import { makeJudgedStream } from './make-judged-stream.ts';
import { makeResponseStream } from './make-response-stream.ts';
import { type MadeStream, makeStream, type StreamKind } from './make-stream.ts';
import { allPhrases } from './phrases.ts';
import { tokens } from './token-words.ts';

type StreamingRun = {
  /**
   * Total number of streams: eight of ten contain a phrase, one is clean, and one has words at the places where it is
   * split; these words contain a term, and in every second case a term is a separate word.
   */
  readonly streams: number;
  readonly seed: number;
  readonly say: (progress: string) => void;
};

type StreamingReport = {
  readonly forbidden: number;
  readonly clean: number;
  readonly tokens: number;
  /** Streams with a term as a word. */
  readonly words: number;
  /** How many of all streams are streams of the Responses API; the others are chats. */
  readonly responses: number;
  /** How many of all streams have the text under test in reasoning, in a tool call or in a member of the provider. */
  readonly judgedOnRequest: number;
  /** Tested phrases, lengths in bytes and offsets. */
  readonly phrases: number;
  readonly lengths: number;
  readonly offsets: number;
  /** Clean streams that a token rule stopped because a window cut a word. */
  readonly falseStops: number;
  /** Violations, each with the seed of its stream. */
  readonly violations: readonly string[];
};

/** Phrases begin at every offset up to the middle of the third window. */
const offsets = 2_560;
const connections = 16;
const aliases = { phrases: 'phrases', tokens: 'tokens' } as const;
/** The alias of the route for which the same policy judges further texts. */
const judgedAlias = (policy: string): string => `${policy}-judged`;
const makers = [makeStream, makeResponseStream, makeJudgedStream] as const;

/** Sends generated streams through a real gateway and runtime, and checks what every client received. */
export async function runStreaming({ streams, seed, say }: StreamingRun): Promise<StreamingReport> {
  await using provider = await startCuttingProvider();
  await using world = await startGuardedGateway({ bundle: phraseBundle() });
  await addRoutes(world, provider.url);
  using client = createStreamClient(world.url, world.key, connections);
  const kinds = { forbidden: 0, clean: 0, tokens: 0, word: 0 };
  const counts = { responses: 0, judgedOnRequest: 0 };
  const tried = { phrases: new Set<string>(), lengths: new Set<number>(), offsets: new Set<number>() };
  const violations: string[] = [];
  let falseStops = 0;
  let next = 0;

  async function work(): Promise<void> {
    while (next < streams) {
      const index = next;
      next += 1;
      const kind = kindOf(index);
      kinds[kind.kind] += 1;
      if (kind.kind === 'forbidden') {
        tried.phrases.add(kind.phrase.text);
        tried.lengths.add(kind.phrase.bytes);
        tried.offsets.add(kind.offset);
      }
      const stream = take(makers, Math.floor(index / 10))(seed * 1_000_003 + index, kind);
      if (stream.api === 'responses') counts.responses += 1;
      if (stream.isJudgedOnRequest) counts.judgedOnRequest += 1;
      const verdict = await sendThrough(client, provider, stream, kind);
      if (kind.kind === 'tokens' && verdict === 'false stop') falseStops += 1;
      else if (verdict !== undefined) violations.push(`${kind.kind} stream ${stream.seed}: ${verdict}`);
      if (next === index + 1 && index % 1_000 === 999) say(`${index + 1} streams`);
    }
  }

  await Promise.all(Array.from({ length: connections }, work));
  const { phrases, lengths, offsets: begins } = tried;
  const { word: words, ...others } = kinds;
  return {
    ...others,
    words,
    ...counts,
    phrases: phrases.size,
    lengths: lengths.size,
    offsets: begins.size,
    falseStops,
    violations,
  };
}

const phrases = allPhrases();

/** Phrases so long that they rarely end in the window in which they begin. */
const longPhrases = phrases.filter(({ bytes }) => bytes >= limits.overlapBytes - 40);
/** Offsets at which a long phrase crosses the end of the first or the second window. */
const borders = [limits.windowBytes, 2 * limits.windowBytes - 40] as const;

/**
 * Of ten streams four contain a phrase of any length at any offset, and four a long phrase across the end of a window.
 * Strides without a common divisor produce ever new combinations of lengths and offsets.
 */
function kindOf(index: number): StreamKind {
  const place = index % 10;
  if (place === 8) return { kind: 'clean' };
  const group = Math.floor(index / 10);
  if (place === 9) return group % 2 === 0 ? { kind: 'tokens' } : { kind: 'word', word: take(tokens, group >> 1) };
  const count = group * 4 + (place >> 1);
  if (place % 2 === 0)
    return { kind: 'forbidden', phrase: take(phrases, count * 181), offset: (count * 1_009) % offsets };
  const offset = take(borders, count) - 330 + ((count * 37) % 340);
  return { kind: 'forbidden', phrase: take(longPhrases, count * 7), offset };
}

function take<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('the list is empty');
  return item;
}

/** @returns the fault, or undefined */
async function sendThrough(
  client: StreamClient,
  provider: CuttingProvider,
  stream: MadeStream,
  { kind }: StreamKind,
): Promise<string | undefined> {
  provider.offer(stream);
  try {
    const policy = kind === 'tokens' || kind === 'word' ? aliases.tokens : aliases.phrases;
    const alias = stream.isJudgedOnRequest ? judgedAlias(policy) : policy;
    const verdict = judgeStream(stream, alias, await client.ask(alias, stream));
    if (verdict.kind === 'good') return undefined;
    return verdict.kind === 'false_stop' ? 'false stop' : verdict.fault;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    provider.withdraw(stream);
  }
}

/**
 * Makes a bundle that denies half of the phrases and masks the other half: in a stream, a match of either kind ends the
 * stream.
 */
function phraseBundle(): Bundle {
  const texts = phrases.map(({ text }) => text);
  const mask = { type: 'mask', replacement: '***' } as const;
  const denied = rule(
    'denied',
    texts.filter((_, index) => index % 2 === 0),
    { type: 'deny' },
    'substring',
  );
  const masked = rule(
    'masked',
    texts.filter((_, index) => index % 2 === 1),
    mask,
    'substring',
  );
  const whole = rule('tokens', tokens, { type: 'deny' }, 'token');
  const quiet = section([rule('nothing', ['\u{10fffd}\u{10fffc}'], { type: 'deny' }, 'substring')]);
  return {
    schema: bundleSchemaName,
    contentProfile: currentProfile,
    limits: { ...defaultBundleLimits, maxConcurrency: 64 },
    policies: [
      { id: aliases.phrases, revision: '1', request: quiet, response: section([denied, masked]) },
      { id: aliases.tokens, revision: '1', request: quiet, response: section([whole]) },
    ],
    providers: [],
  };
}

function section(baseline: BaselineRule[]): Section {
  return { deadlineMs: 5_000, baseline, additional: [] };
}

function rule(
  id: string,
  terms: readonly string[],
  action: (BaselineRule & { kind: 'stop_list' })['action'],
  match: 'substring' | 'token',
): BaselineRule {
  return {
    id,
    kind: 'stop_list',
    timeoutMs: 2_000,
    action,
    stopList: { terms: [...terms], match, caseSensitive: true },
  };
}

/**
 * Adds routes that lead directly to the runtime and to the provider that splits texts: for each policy of the bundle,
 * one route judges the texts of the contract and one judges further texts.
 */
async function addRoutes(world: GuardedGateway, providerUrl: string): Promise<void> {
  const { client, route, runtime } = world;
  const { guardrail } = route;
  if (guardrail.mode !== 'Policy') throw new Error('the route of the gateway has to be guarded');
  const judged = { judge: ['toolCalls', 'reasoning', 'names', 'parameters'] } satisfies Partial<GatewayRouteSpec>;
  const routes = Object.values(aliases).flatMap((policyId) => [
    { policyId, alias: policyId, more: {} },
    { policyId, alias: judgedAlias(policyId), more: judged },
  ]);
  for (const [index, { policyId, alias, more }] of routes.entries()) {
    const spec: GatewayRouteSpec = {
      ...route,
      ...more,
      alias,
      binding: { ...route.binding, name: alias, id: `${index}` },
      guardrail: guardOf(guardrail, policyId, runtime.url),
      upstream: { ...route.upstream, endpoint: `${providerUrl}/v1` },
    };
    await client.create<GatewayRoute>(kinds.gatewayRoute, {
      apiVersion,
      kind: 'GatewayRoute',
      metadata: { name: alias },
      spec,
    });
  }
  await until('the gateway loads the routes', async () => {
    const models = await fetch(`${world.url}/v1/models`, { headers: { authorization: `Bearer ${world.key}` } });
    const { data } = (await models.json()) as { data: { id: string }[] };
    return routes.every(({ alias }) => data.some(({ id }) => id === alias));
  });
}

function guardOf(guardrail: GuardedRoute, policyId: string, address: string): GuardedRoute {
  return {
    ...guardrail,
    policyId,
    addresses: [address],
    headers: { ...guardrail.headers, [contextHeaders.policyId]: policyId },
  };
}
