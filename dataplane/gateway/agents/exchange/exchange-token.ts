import { connectionAudience } from '#contracts/connections';
import { mintAgentCallToken } from '#identity/agent-call-token';
import { mintConnectionToken } from '#identity/connection-token';
import type { GatewayKeyRing } from '#identity/gateway-key-ring';
import { gatewayTokenLimits, UnsignableTokenError } from '#identity/gateway-token';
import { mintModelToken } from '#identity/model-token';
import type { GrantedBudget, RunGrant, RunGrantVerifier } from '#identity/run-grant';
import { mintServiceToken, serviceAudiences } from '#identity/service-token';
import { type Clock, systemClock } from '#kit/time/clock';
import type { Relations } from '#relations/ports';
import type { RoutedVersion } from '#resources/agent-route';
import { judgeRights } from '../calls/judge-rights.ts';
import type { CallerLimiter } from '../calls/limit-callers.ts';
import { rightsFault } from '../calls/rights-fault.ts';
import { smallerBudget } from '../calls/smaller-budget.ts';
import { mayUseConnection } from '../connections/admit-connection-call.ts';
import type { FlowConnections } from '../connections/open-connections.ts';
import type { AgentTable } from '../routes/agent-table.ts';
import type { readExchange } from './read-exchange.ts';

export type ExchangeParts = {
  readonly table: AgentTable;
  readonly relations: Pick<Relations, 'check' | 'checkerOf'>;
  readonly keys: GatewayKeyRing;
  readonly issuer: string;
  readonly grants: RunGrantVerifier;
  readonly connections: Pick<FlowConnections, 'find'>;
  readonly callers: Pick<CallerLimiter, 'admitsTrade' | 'retryAfterSeconds'>;
};

type ExchangeError = 'invalid_grant' | 'invalid_target' | 'rate_limited' | 'temporarily_unavailable';
type ExchangeResult =
  | { readonly kind: 'issued'; readonly token: string; readonly expiresIn: number }
  | { readonly kind: 'error'; readonly error: ExchangeError; readonly why: string };

/** A grant, the audience of the token, and the budget of the run of a called agent. */
type Asked = Omit<Extract<ReturnType<typeof readExchange>, { readonly kind: 'exchange' }>, 'kind'>;

const refused = (error: ExchangeError, why: string): ExchangeResult => ({ kind: 'error', error, why });
const notRequired = refused('invalid_target', 'the version does not require this audience');

/** Agents call each other over A2A. */
const callMode = 'A2A';
/** Audiences that a run may request; a call of another agent or of a connection names it after a prefix. */
const modelsAudience = 'urn:portcullis:models';
const agentPrefix = 'urn:portcullis:agent:';
const connectionPrefix = connectionAudience('');

/**
 * Trades the grant of a run for a token of one audience that its version requires (RFC 8693). The token is valid for at
 * most 60 s and never longer than the run. The person must still have the right to invoke the agent. The route must
 * list the version, or must have listed it while the run may have begun.
 */
export async function exchangeToken(
  parts: ExchangeParts,
  { grant: text, audience, budget }: Asked,
  now: () => Date = () => new Date(),
): Promise<ExchangeResult> {
  const grant = await parts.grants.open(text);
  if (grant.kind === 'refusal') {
    if (grant.status === 503) return refused('temporarily_unavailable', 'the keys of the gateway cannot be read');
    return refused('invalid_grant', 'the grant is invalid or has expired');
  }
  if (!parts.callers.admitsTrade(grant))
    return refused('rate_limited', 'too many requests for tokens of this run or person');
  if (!parts.table.isComplete) return refused('temporarily_unavailable', 'the routes are being loaded');
  try {
    const key = await parts.keys.signingKey();
    const { agentId, mode } = grant;
    if ((await judgeRights(parts.relations, callerOf(grant), { agentId, mode })) !== 'invoke') {
      return refused('invalid_grant', 'the person may no longer invoke the agent');
    }
    const called = await callableAgent(parts, grant, audience);
    // Read only now: the route may have switched, and the run may have ended, while the rights were checked.
    const version = parts.table.versionOfRun(grant)?.version;
    if (version === undefined) return refused('invalid_grant', 'the agent or the version of the run is not routed');
    const date = now();
    // A token begins and ends at a whole second, so that one of the last second of a run ends with the run.
    const leftSeconds = Math.ceil(grant.expiresAt.getTime() / 1_000) - Math.floor(date.getTime() / 1_000);
    const ttlSeconds = Math.min(gatewayTokenLimits.workloadSeconds, leftSeconds);
    if (ttlSeconds < 1) return refused('invalid_grant', 'the run has ended');
    const token = await issue(parts, {
      grant,
      version,
      audience,
      called,
      budget: smallerBudget(grant.budget, budget),
      key,
      ttlSeconds,
      clock: { ...systemClock, date: () => date },
    });
    return token === undefined ? notRequired : { kind: 'issued', token, expiresIn: ttlSeconds };
  } catch (error) {
    const fault = rightsFault(error);
    if (fault === 'unavailable') return refused('temporarily_unavailable', 'rights cannot be checked');
    if (fault === 'unnamed')
      return refused('invalid_grant', 'the name of the person or of an agent is too long for the store of rights');
    if (error instanceof UnsignableTokenError)
      return refused('invalid_target', 'the chain of agents is too long or repeats one');
    throw error;
  }
}

const requiredNames = ({ requires }: RoutedVersion, kind: RoutedVersion['requires'][number]['kind']) =>
  requires.filter((one) => one.kind === kind).map(({ name }) => name);

/** The name of the agent that an audience is for, if the version requires it. */
function calledName(version: RoutedVersion | undefined, audience: string): string | undefined {
  if (version === undefined || !audience.startsWith(agentPrefix)) return undefined;
  const name = audience.slice(agentPrefix.length);
  return requiredNames(version, 'Agent').includes(name) ? name : undefined;
}

/**
 * The id of the agent that is named by an audience, if the person and the agent of the run may invoke it. For an agent
 * that they may not invoke no token is issued, as for an agent that does not exist.
 * @throws RelationsUnavailableError
 */
async function callableAgent(parts: ExchangeParts, grant: RunGrant, audience: string): Promise<string | undefined> {
  const name = calledName(parts.table.versionOfRun(grant)?.version, audience);
  if (name === undefined) return undefined;
  const called = parts.table.named(name);
  const caller = { ...callerOf(grant), actors: chainOf(parts, grant) };
  const right = await judgeRights(parts.relations, caller, { agentId: called ?? name, mode: callMode });
  // The name is looked up again, because it may belong to another agent by now, whose rights were not checked.
  return right === 'invoke' && parts.table.named(name) === called ? called : undefined;
}

type Issue = {
  readonly grant: RunGrant;
  readonly version: RoutedVersion;
  readonly audience: string;
  /** The agent that the audience is for, if it may be called. */
  readonly called: string | undefined;
  /** The budget of the called run: never more than the calling run has. */
  readonly budget: GrantedBudget;
  readonly key: Awaited<ReturnType<GatewayKeyRing['signingKey']>>;
  readonly ttlSeconds: number;
  /** The time of the exchange, from which the life of the token is counted. */
  readonly clock: Clock;
};

/** @returns undefined if the version does not require the audience */
async function issue(
  parts: ExchangeParts,
  { grant, version, audience, called, budget, key, ttlSeconds, clock }: Issue,
): Promise<string | undefined> {
  const named = (kind: RoutedVersion['requires'][number]['kind']) => requiredNames(version, kind);
  const { agentId, versionId, subject, actors, tenant, groups } = grant;
  const person = { subject, actors, groups, ...(tenant === undefined ? {} : { tenant }) };
  const signed = { ...person, agentId, versionId, key, issuer: parts.issuer, ttlSeconds, clock };
  if (audience === modelsAudience) {
    const aliases = [...new Set(named('Model'))];
    return aliases.length === 0 ? undefined : await mintModelToken({ ...signed, aliases });
  }
  if (audience === serviceAudiences.retrieval) {
    return named('Collection').length === 0 ? undefined : await mintServiceToken({ ...signed, audience });
  }
  if (audience === serviceAudiences.memory) {
    return named('Memory').length === 0 ? undefined : await mintServiceToken({ ...signed, audience });
  }
  // A version that calls other agents may look up their purpose and whether they can be called.
  if (audience === serviceAudiences.catalogue) {
    return named('Agent').length === 0 ? undefined : await mintServiceToken({ ...signed, audience });
  }
  if (audience.startsWith(connectionPrefix)) {
    const connection = audience.slice(connectionPrefix.length);
    const found = parts.connections.find(connection);
    if (found === undefined || !mayUseConnection(parts, found, grant)) return undefined;
    return await mintConnectionToken({ ...signed, connection });
  }
  if (called === undefined || calledName(version, audience) === undefined) return undefined;
  return await mintAgentCallToken({
    ...signed,
    agentId: called,
    actors: chainOf(parts, grant),
    budget,
    deadline: grant.expiresAt,
  });
}

/** The agents that act in a call that the run makes, the agent of the run first. */
function chainOf({ issuer }: Pick<ExchangeParts, 'issuer'>, { agentId, actors }: RunGrant) {
  return [{ issuer, subject: agentId }, ...actors];
}

function callerOf({ subject, actors, tenant, groups }: RunGrant) {
  return { subject, actors, tenant, groups };
}
