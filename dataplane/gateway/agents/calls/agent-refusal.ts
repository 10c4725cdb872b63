import { type AgentGatewayErrorCode, agentGatewayErrors } from '#contracts/agent-gateway-errors';

/** A refused call of an agent. The message is a fixed text of this program. */
export class AgentRefusal extends Error {
  readonly code: AgentGatewayErrorCode;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: AgentGatewayErrorCode, headers: Readonly<Record<string, string>> = {}) {
    super(agentGatewayErrors[code].meaning);
    this.name = 'AgentRefusal';
    this.code = code;
    this.headers = headers;
  }
}
