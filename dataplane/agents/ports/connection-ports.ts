import {
  type ConnectionCall,
  type ConnectionErrorCode,
  connectionAudience,
  connectionRefusalSchema,
  connectionsPath,
} from '#contracts/connections';
import type { PortError } from '#flow/engine/flow-error';
import { answerSchemas, type FlowPorts, type PortCall } from '#flow/engine/ports';
import { readServiceAnswer } from '#flow/services/caller-service';
import { exchangeWithService } from '#flow/services/exchange-with-service';
import { traceHeaders } from '#flow/services/trace-headers';
import type { IdentifyRun } from '../grants/identify-run.ts';

/** The codes of the gateway that say more than their status. */
const errors: Partial<Record<ConnectionErrorCode, PortError['code']>> = {
  answer_invalid: 'answer_invalid',
  tool_failed: 'refused',
  address_refused: 'forbidden',
};

type ConnectionPortsOptions = {
  /** Address of the agent gateway, which makes the calls and has the credentials. */
  readonly url: URL;
  readonly identity: IdentifyRun;
};

/** Calls outside HTTP services and MCP servers through the gateway, with a token of the run for each connection. */
export function createConnectionPorts({ url, identity }: ConnectionPortsOptions): Pick<FlowPorts, 'http' | 'mcp'> {
  const ask = async (name: string, body: ConnectionCall, call: PortCall): Promise<unknown> => {
    const identify = identity(connectionAudience(name));
    return await exchangeWithService({
      url: new URL(`${url.href.replace(/\/+$/, '')}${connectionsPath}${encodeURIComponent(name)}`),
      headers: { ...traceHeaders(call), ...(await identify(call)) },
      body,
      signal: call.signal,
      errorOf({ value }) {
        const refusal = connectionRefusalSchema.safeParse(value);
        return refusal.success ? errors[refusal.data.error.code] : undefined;
      },
    });
  };
  return {
    http: async ({ connection, ...request }, call) =>
      readServiceAnswer(answerSchemas.http, await ask(connection, request as ConnectionCall, call)),
    mcp: async ({ server, ...request }, call) =>
      readServiceAnswer(answerSchemas.mcp, await ask(server, request as ConnectionCall, call)),
  };
}
