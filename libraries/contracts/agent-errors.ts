export type A2aReason =
  | 'TASK_NOT_FOUND'
  | 'PUSH_NOTIFICATION_NOT_SUPPORTED'
  | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED'
  | 'INVALID_AGENT_RESPONSE'
  | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'VERSION_NOT_SUPPORTED';

type AgentErrorRow = {
  readonly status: number;
  /** Canonical name of google.rpc.Code, which the A2A binding HTTP+JSON puts into `error.status`. */
  readonly rpc: string;
  /** Reasons of the equivalent A2A errors, the most specific reason first. */
  readonly a2a: readonly A2aReason[];
  readonly meaning: string;
};

const error = (status: number, rpc: string, meaning: string, ...a2a: readonly A2aReason[]): AgentErrorRow => ({
  status,
  rpc,
  a2a,
  meaning,
});

const invalid = 'INVALID_ARGUMENT';
const precondition = 'FAILED_PRECONDITION';

/**
 * Every error of an agent process (`agents:error:form`, `agents:error:named-codes`). The meaning is the message of the
 * answer: it repeats no part of a request, of a model or of a file.
 */
export const agentErrors = {
  version_not_supported: error(
    400,
    'UNIMPLEMENTED',
    'Send the header A2A-Version: 1.0, for MCP the header MCP-Protocol-Version: 2025-11-25.',
    'VERSION_NOT_SUPPORTED',
  ),
  content_type_not_supported: error(
    415,
    invalid,
    'The agent does not support a media type of the request.',
    'CONTENT_TYPE_NOT_SUPPORTED',
  ),
  not_acceptable: error(406, invalid, 'Accept must name application/json and text/event-stream.'),
  request_too_large: error(413, invalid, 'The request has more bytes, values or text than the agent accepts.'),
  request_timeout: error(408, 'DEADLINE_EXCEEDED', 'The request did not arrive in time.'),
  invalid_request: error(400, invalid, 'The request does not have the shape of its operation.'),
  unauthenticated: error(401, 'UNAUTHENTICATED', 'The identity of the call is missing, invalid or was used before.'),
  forbidden: error(403, 'PERMISSION_DENIED', 'The identity of the call does not have the right to it.'),
  identity_unavailable: error(503, 'UNAVAILABLE', 'The identity of the call cannot be verified now.'),
  too_many_runs: error(
    429,
    'RESOURCE_EXHAUSTED',
    'The agent has reached its limit of concurrent runs: call again later.',
  ),
  file_refused: error(403, 'PERMISSION_DENIED', 'A file reference is refused.'),
  file_provider_mapping_failed: error(502, 'INTERNAL', 'A file could not be read for the run.'),
  guardrail_denied: error(403, 'PERMISSION_DENIED', 'A policy denied a text.'),
  guardrail_error: error(503, 'UNAVAILABLE', 'A policy did not answer, so no text was used.'),
  input_invalid: error(400, invalid, 'The input does not match the input schema of the agent.'),
  output_invalid: error(
    502,
    'INTERNAL',
    'The result does not match the output schema of the agent, or its policy cannot judge a text of this size.',
    'INVALID_AGENT_RESPONSE',
  ),
  flow_failed: error(500, 'INTERNAL', 'The run ended with an error of the flow; flowCode names it.'),
  dependency_unavailable: error(503, 'UNAVAILABLE', 'A service that the flow calls does not answer now.'),
  deadline_exceeded: error(504, 'DEADLINE_EXCEEDED', 'The run exceeded its time limit.'),
  budget_exceeded: error(429, 'RESOURCE_EXHAUSTED', 'The run used more than its budget.'),
  cancelled: error(499, 'CANCELLED', 'The client ended the call.'),
  task_not_found: error(404, 'NOT_FOUND', 'The caller has no such task in this process.', 'TASK_NOT_FOUND'),
  stream_unread: error(408, 'ABORTED', 'The client left too much of the stream unread: read the task instead.'),
  run_not_found: error(404, 'NOT_FOUND', 'The caller may read no such run, or this process no longer keeps it.'),
  UnsupportedOperationError: error(400, precondition, 'The agent does not offer this.', 'UNSUPPORTED_OPERATION'),
  push_notification_not_supported: error(
    400,
    precondition,
    'The agent does not offer push notifications.',
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'UNSUPPORTED_OPERATION',
  ),
  extended_card_not_configured: error(
    400,
    precondition,
    'The agent has no extended card.',
    'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  ),
  session_not_found: error(404, 'NOT_FOUND', 'The caller has no such session in this process: initialize again.'),
  advertised_capability_unavailable: error(
    503,
    'UNAVAILABLE',
    'The agent cannot serve a capability that it requests: GET /health/ready names it.',
  ),
  not_ready: error(503, 'UNAVAILABLE', 'The agent is not ready: GET /health/ready names the reason.'),
  not_found: error(404, 'NOT_FOUND', 'There is no such path.'),
  method_not_allowed: error(405, 'UNIMPLEMENTED', 'The method is not allowed for this path.'),
  internal: error(500, 'INTERNAL', 'The call failed for a reason without a specific code.'),
} as const satisfies Record<string, AgentErrorRow>;

export type AgentErrorCode = keyof typeof agentErrors;
