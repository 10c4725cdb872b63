import { v7 as uuid } from 'uuid';
import type { GatewayKeyRing } from '#identity/gateway-key-ring';
import { UnsignableTokenError } from '#identity/gateway-token';
import { grantHeader, mintRunGrant } from '#identity/run-grant';
import { mintWorkloadToken } from '#identity/workload-token';
import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AgentCaller } from '../calls/identify-caller.ts';
import type { AgentOperation } from '../calls/parse-call.ts';
import { smallerBudget } from '../calls/smaller-budget.ts';

export type IdentityParts = {
  readonly keys: GatewayKeyRing;
  /** Claim `iss` of the tokens that this gateway signs. */
  readonly issuer: string;
};

type IssueOptions = {
  readonly caller: AgentCaller;
  readonly agentId: string;
  readonly version: RoutedVersion;
  readonly operation: AgentOperation;
  /** Whom the environment admits to the agent over MCP. */
  readonly exposure: AgentRouteSpec['exposure'];
};

/** Lifetime of a workload token, seconds. The token is used immediately. */
const workloadSeconds = 30;

/**
 * The headers that replace the token of the caller: an identity for this version and operation, and for a run its grant
 * (`agent-gateway:token:replaced`, `agent-gateway:short-lived-identity:this-workload`).
 * @throws AgentRefusal
 */
export async function issueIdentity(
  { keys, issuer }: IdentityParts,
  { caller, agentId, version, operation, exposure }: IssueOptions,
): Promise<Readonly<Record<string, string>>> {
  const { subject, actors, tenant, groups, parent } = caller;
  const key = await keys.signingKey();
  const { versionId, limits } = version;
  const call = { key, issuer, agentId, versionId, subject, actors, ...(tenant === undefined ? {} : { tenant }) };
  const leftMs = parent === undefined ? limits.timeoutMs : parent.deadline.getTime() - Date.now();
  // A run whose time is over can still cancel the task that it has begun at another agent.
  if (operation.isRun && leftMs <= 0) throw new AgentRefusal('deadline_exceeded');
  try {
    const workload = mintWorkloadToken({
      ...call,
      ...(operation.mode === 'MCP' ? { exposure } : {}),
      operation: operation.name,
      ttlSeconds: workloadSeconds,
    });
    if (!operation.isRun) return { authorization: `Bearer ${await workload}` };
    const grant = mintRunGrant({
      ...call,
      mode: operation.mode,
      groups,
      runId: uuid(),
      budget: smallerBudget(limits.budget, parent?.budget),
      timeoutMs: Math.min(limits.timeoutMs, leftMs),
    });
    const [token, granted] = await Promise.all([workload, grant]);
    return { authorization: `Bearer ${token}`, [grantHeader]: granted };
  } catch (error) {
    if (!(error instanceof UnsignableTokenError)) throw error;
    throw new AgentRefusal(error.code === 'token_too_large' ? 'invalid_request' : 'chain_refused');
  }
}
