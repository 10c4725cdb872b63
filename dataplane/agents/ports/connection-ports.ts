import {
  type ConnectionCall,
  type ConnectionErrorCode,
  connectionAudience,
  connectionRefusalSchema,
  connectionsPath,
} from '#contracts/connections';
import { PortError } from '#flow/engine/flow-error';
import { answerSchemas, type FlowPorts, type PortCall } from '#flow/engine/ports';
import { readServiceAnswer } from '#flow/services/caller-service';
import { exchangeWithService } from '#flow/services/exchange-with-service';
import { traceHeaders } from '#flow/services/trace-headers';
import type { IdentifyRun } from '../grants/identify-run.ts';

/** The codes of the gateway that are more specific than their status. */
const errors: Partial<Record<ConnectionErrorCode, PortError['code']>> = {
  answer_invalid: 'answer_invalid',
  tool_failed: 'refused',
  address_refused: 'forbidden',
};

/** Refusals of a call before its service was called, or with which the service did not accept it. */
const withoutEffect: ReadonlySet<ConnectionErrorCode> = new Set([
  'unauthenticated',
  'identity_unavailable',
  'call_forbidden',
  'address_refused',
  'too_many_calls',
  'rate_limited',
  'credential_unavailable',
]);

type ConnectionPortsOptions = {
  /** Address of the agent gateway, which makes the calls and has the credentials. */
  readonly url: URL;
  readonly identity: IdentifyRun;
};

/**
 * Calls outside HTTP services and MCP servers through the gateway, with a token of the run for each connection. An
 * error states whether it is known that the service has done nothing.
 */
export function createConnectionPorts({ url, identity }: ConnectionPortsOptions): Pick<FlowPorts, 'http' | 'mcp'> {
  const ask = async (name: string, body: ConnectionCall, call: PortCall): Promise<unknown> => {
    const identify = identity(connectionAudience(name));
    let isSent = false;
    let refused: ConnectionErrorCode | undefined;
    try {
      const headers = { ...traceHeaders(call), ...(await identify(call)) };
      isSent = true;
      return await exchangeWithService({
        url: new URL(`${url.href.replace(/\/+$/, '')}${connectionsPath}${encodeURIComponent(name)}`),
        headers,
        body,
        signal: call.signal,
        errorOf({ value }) {
          refused = connectionRefusalSchema.safeParse(value).data?.error.code;
          return refused === undefined ? undefined : errors[refused];
        },
      });
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      const hadNoEffect = error.hadNoEffect || !isSent || (refused !== undefined && withoutEffect.has(refused));
      throw new PortError(error.code, { hadNoEffect });
    }
  };
  return {
    http: async ({ connection, ...request }, call) =>
      readServiceAnswer(answerSchemas.http, await ask(connection, request as ConnectionCall, call)),
    mcp: async ({ server, ...request }, call) =>
      readServiceAnswer(answerSchemas.mcp, await ask(server, request as ConnectionCall, call)),
  };
}
