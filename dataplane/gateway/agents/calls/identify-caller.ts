import type { AgentCallVerifier, VerifiedAgentCall } from '#identity/agent-call-token';
import { isAgentCallToken } from '#identity/agent-call-token';
import type { Verifier } from '#identity/create-verifier';
import type { Subject } from '#identity/identity';
import { personOfHeaders, tenantOfPerson } from '#identity/person-headers';
import { readBearer } from '#identity/read-bearer';

/** The caller, verified before any other condition is checked. */
export type AgentCaller = {
  readonly kind: 'caller';
  readonly subject: Subject;
  /** The agents that act for the subject, the direct caller first. */
  readonly actors: readonly Subject[];
  readonly tenant: string | undefined;
  /** Groups of the tenant that the issuer of the subject named. */
  readonly groups: readonly string[];
  /** The run of the calling agent: its budget and its deadline also limit the calls that it makes. */
  readonly parent: Pick<VerifiedAgentCall, 'budget' | 'deadline'> | undefined;
  /** The token of the request, which must not be sent on. */
  readonly token: string | undefined;
};
type CallerRefusal = {
  readonly kind: 'refused';
  readonly code: 'unauthenticated' | 'identity_unavailable' | 'tenant_forbidden';
};

/** The facts from which a caller is determined. */
export type CallOrigin = {
  readonly rawHeaders: readonly string[];
  /** IP address of the other end of the connection. */
  readonly remoteAddress: string | undefined;
};

/** Determines the caller from headers and connection only; never throws because of a token, a header or a network. */
export type IdentifyCaller = (origin: CallOrigin, agentId: string) => Promise<AgentCaller | CallerRefusal>;

const refused = (code: CallerRefusal['code']): CallerRefusal => ({ kind: 'refused', code });

/**
 * Production mode: people by the tokens of trusted issuers, agents by tokens of this gateway. A token of another issuer
 * with a chain of actors is refused, because only the gateway knows which agents have acted
 * (`agent-gateway:identity:checked`).
 */
export function identifyByToken(people: Verifier, agents: AgentCallVerifier): IdentifyCaller {
  return async ({ rawHeaders }, agentId) => {
    const bearer = readBearer(rawHeaders);
    if (bearer.kind === 'refusal') return refused('unauthenticated');
    const { token } = bearer;
    if (isAgentCallToken(token)) return await identifyAgent(agents, token, agentId);
    const identity = await people.verify(token);
    if (identity.kind === 'refusal') {
      return refused(identity.status === 503 ? 'identity_unavailable' : 'unauthenticated');
    }
    const { issuer, subject } = identity;
    if (identity.actors.length > 0 || issuer.startsWith('development:')) return refused('unauthenticated');
    const place = tenantOfPerson(rawHeaders, identity);
    if (place === undefined) return refused('tenant_forbidden');
    return { kind: 'caller', subject: { issuer, subject }, actors: [], ...place, parent: undefined, token };
  };
}

/**
 * Development mode, without authentication of people: X-User-Id, X-Tenant-Id and X-Groups name the caller, on
 * connections of this machine only, because the gateway may listen on other addresses for models. The issuer of these
 * people is the one that the services use in development mode. Agents still have a token of this gateway.
 */
export function identifyByHeaders(agents: AgentCallVerifier): IdentifyCaller {
  return async ({ rawHeaders, remoteAddress }, agentId) => {
    const bearer = readBearer(rawHeaders);
    if (bearer.kind === 'bearer' && isAgentCallToken(bearer.token)) {
      return await identifyAgent(agents, bearer.token, agentId);
    }
    const person = isLoopback(remoteAddress) ? personOfHeaders(rawHeaders) : undefined;
    if (person === undefined) return refused('unauthenticated');
    const token = bearer.kind === 'bearer' ? bearer.token : undefined;
    return { kind: 'caller', ...person, actors: [], parent: undefined, token };
  };
}

/** IPv4 addresses of a connection that was accepted by IPv6 have the prefix `::ffff:`. */
function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

async function identifyAgent(
  agents: AgentCallVerifier,
  token: string,
  agentId: string,
): Promise<AgentCaller | CallerRefusal> {
  const call = await agents.verify(token, agentId);
  if (call.kind === 'refusal') return refused(call.status === 503 ? 'identity_unavailable' : 'unauthenticated');
  const { subject, actors, tenant, groups, budget, deadline } = call;
  return { kind: 'caller', subject, actors, tenant, groups, parent: { budget, deadline }, token };
}
