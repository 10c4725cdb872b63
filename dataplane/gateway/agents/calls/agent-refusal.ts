import { type AgentGatewayErrorCode, agentGatewayErrors } from '#contracts/agent-gateway-errors';
import type { JsonValue } from '#kit/json/json-value';

/** The message of JSON-RPC that is refused, and the code of its error. */
type RefusedMessage = { readonly id: JsonValue | undefined; readonly rpcCode: -32601 | -32602 };

/** A refused call of an agent. The message is a fixed text of this program. */
export class AgentRefusal extends Error {
  readonly code: AgentGatewayErrorCode;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The refused message; undefined if the whole request is refused. */
  readonly rpc: RefusedMessage | undefined;

  constructor(code: AgentGatewayErrorCode, headers: Readonly<Record<string, string>> = {}, rpc?: RefusedMessage) {
    super(agentGatewayErrors[code].meaning);
    this.name = 'AgentRefusal';
    this.code = code;
    this.headers = headers;
    this.rpc = rpc;
  }
}
