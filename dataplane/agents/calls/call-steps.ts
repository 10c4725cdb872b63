import type { AgentErrorCode } from '#contracts/agent-errors';

/**
 * The steps of a call in their order, the same for every protocol (`agents:order:fixed`), each with the codes with which
 * it refuses. The protocol takes the steps one, two and eight (http/), steps/process-call.ts the others. A refusal at any
 * of them is step nine: the call ends with the code and the trace id, and no later step runs.
 */
export const callSteps = [
  {
    name: 'protocol',
    does: 'version, media type and size',
    refusals: [
      'version_not_supported',
      'content_type_not_supported',
      'not_acceptable',
      'request_too_large',
      'request_timeout',
      'too_many_runs',
      'forbidden',
    ],
  },
  {
    name: 'identity',
    does: 'identity and the right to execute',
    refusals: ['unauthenticated', 'forbidden', 'identity_unavailable', 'not_found'],
  },
  {
    name: 'files',
    does: 'the message, its task, session or run, a place for its run, and the files that it refers to',
    refusals: [
      'invalid_request',
      'content_type_not_supported',
      'push_notification_not_supported',
      'extended_card_not_configured',
      'task_not_found',
      'run_not_found',
      'UnsupportedOperationError',
      'session_not_found',
      'too_many_runs',
      'file_refused',
      'file_provider_mapping_failed',
      'cancelled',
    ],
  },
  {
    name: 'input_guardrails',
    does: 'the input policy judges every text',
    refusals: ['guardrail_denied', 'guardrail_error', 'request_too_large', 'cancelled'],
  },
  {
    name: 'conversion',
    does: 'parts and trusted context become one request',
    refusals: ['input_invalid', 'deadline_exceeded'],
  },
  {
    name: 'entry_point',
    does: 'the entry point of the manifest runs',
    refusals: [
      'input_invalid',
      'output_invalid',
      'guardrail_denied',
      'forbidden',
      'flow_failed',
      'dependency_unavailable',
      'deadline_exceeded',
      'budget_exceeded',
      'file_provider_mapping_failed',
      'cancelled',
      'internal',
    ],
  },
  {
    name: 'output',
    does: 'the output policy, then the output schema',
    refusals: ['guardrail_denied', 'guardrail_error', 'output_invalid', 'cancelled'],
  },
  {
    name: 'result',
    does: 'the result becomes a message, a task or a result of the tool',
    refusals: ['output_invalid'],
  },
  { name: 'refusal', does: 'a refusal becomes a stable code with the trace id', refusals: [] },
] as const satisfies readonly {
  readonly name: string;
  readonly does: string;
  readonly refusals: readonly AgentErrorCode[];
}[];

/** A step that can refuse a call. */
export type RefusingStep = Exclude<(typeof callSteps)[number]['name'], 'refusal'>;
