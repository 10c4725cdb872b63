import { type A2aReason, type AgentErrorCode, agentErrors } from './agent-errors.ts';

const error = (status: number, rpc: string, meaning: string, ...a2a: readonly A2aReason[]) =>
  ({ status, rpc, meaning, a2a }) as const;
const same = (code: AgentErrorCode) => agentErrors[code];

/**
 * Every error with which the gateway refuses a call of an agent. An agent that does not exist and an agent that the
 * caller may neither view nor invoke get the same answer, `not_found`. The meaning is the message of the answer.
 */
export const agentGatewayErrors = {
  unauthenticated: same('unauthenticated'),
  identity_unavailable: same('identity_unavailable'),
  forbidden: error(403, 'PERMISSION_DENIED', 'The caller does not have the right to invoke the agent.'),
  tenant_forbidden: error(403, 'PERMISSION_DENIED', 'The identity of the call does not belong to the tenant.'),
  authorization_unavailable: error(503, 'UNAVAILABLE', 'The rights of the caller cannot be checked now.'),
  not_found: error(404, 'NOT_FOUND', 'There is no such agent, version or path for the caller.'),
  method_not_allowed: same('method_not_allowed'),
  content_type_not_supported: same('content_type_not_supported'),
  invalid_request: error(400, 'INVALID_ARGUMENT', 'A header or a parameter of the request is repeated or malformed.'),
  token_exposed: error(400, 'INVALID_ARGUMENT', 'The token of the caller may only be in the header Authorization.'),
  request_too_large: same('request_too_large'),
  request_timeout: same('request_timeout'),
  too_many_runs: error(429, 'RESOURCE_EXHAUSTED', 'The caller has reached its limit of concurrent calls of the agent.'),
  rate_limited: error(429, 'RESOURCE_EXHAUSTED', 'The caller sends too many requests: call again after Retry-After.'),
  budget_used: error(
    429,
    'RESOURCE_EXHAUSTED',
    'The caller has used its budget of runs of the agent: call again after Retry-After.',
  ),
  budget_unavailable: error(503, 'UNAVAILABLE', 'The budget of the caller cannot be read now.'),
  chain_refused: error(
    403,
    'PERMISSION_DENIED',
    'The chain of agents names an agent twice, or has more than four agents.',
  ),
  guardrail_denied: same('guardrail_denied'),
  guardrail_error: same('guardrail_error'),
  operation_not_supported: error(
    400,
    'FAILED_PRECONDITION',
    'The agent does not offer this operation or message.',
    'UNSUPPORTED_OPERATION',
  ),
  push_notification_not_supported: same('push_notification_not_supported'),
  extended_card_not_configured: same('extended_card_not_configured'),
  answer_refused: error(
    502,
    'INTERNAL',
    'The gateway cannot check the answer of the agent, so it is not sent to the caller.',
    'INVALID_AGENT_RESPONSE',
  ),
  overloaded: error(503, 'UNAVAILABLE', 'The gateway has reached its limit of bytes of calls and answers: call again.'),
  agent_unavailable: error(503, 'UNAVAILABLE', 'No process of the agent answers now.'),
  deadline_exceeded: same('deadline_exceeded'),
  shutting_down: error(503, 'UNAVAILABLE', 'This replica of the gateway is shutting down: call again.'),
  cancelled: same('cancelled'),
  internal: same('internal'),
} as const;

export type AgentGatewayErrorCode = keyof typeof agentGatewayErrors;
