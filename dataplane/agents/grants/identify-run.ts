import { PortError } from '#flow/engine/flow-error';
import type { PortCall } from '#flow/engine/ports';
import type { RunTokens } from './trade-grants.ts';

/** Creates the headers that identify the caller of a run to one audience. @throws PortError */
export type IdentifyRun = (audience: string) => (call: PortCall) => Promise<Readonly<Record<string, string>>>;

/**
 * Production mode: identifies the run by a token that the gateway issued for it. Services take the tenant from a
 * header, and refuse a tenant that the token does not have.
 */
export function identifyByGrant(tokens: RunTokens): IdentifyRun {
  return (audience) => async (call) => {
    const { tenantId } = call.context;
    return {
      authorization: `Bearer ${await tokens.tokenFor(call, audience)}`,
      ...(typeof tenantId === 'string' ? { 'x-tenant-id': tenantId } : {}),
    };
  };
}

/** Development mode, without authentication: the headers that services in development mode read. */
export const identifyByName: IdentifyRun =
  () =>
  async ({ context }) => {
    const named = { 'x-user-id': 'userId', 'x-agent-id': 'agentId', 'x-tenant-id': 'tenantId' } as const;
    const headers: Record<string, string> = {};
    for (const [header, fact] of Object.entries(named)) {
      const value = context[fact];
      if (typeof value === 'string') headers[header] = value;
    }
    if (headers['x-user-id'] === undefined) throw new PortError('forbidden');
    return headers;
  };
