const author = 'author';
const caller = 'caller';
const platform = 'platform';
const meaning = <const By extends string>(by: By, text: string) => ({ by, meaning: text }) as const;

/**
 * Every error with which a node or a run of a flow ends. `by` names the role that can correct it. No message
 * repeats a text of a request, of a model or of a tool.
 */
export const flowErrors = {
  input_invalid: meaning(caller, 'The input does not match the input schema of the flow.'),
  entrypoint_unknown: meaning(caller, 'The flow has no such entry point.'),
  output_invalid: meaning(author, 'An output does not match its schema, or a value is larger than the limit.'),
  path_missing: meaning(author, 'An expression names a value that is absent: give a default.'),
  type_mismatch: meaning(author, 'A value has another type than the node needs.'),
  state_invalid: meaning(
    author,
    'The state after a turn does not match the schema of the state, or is larger than the limit.',
  ),
  iterations_exceeded: meaning(author, 'A loop did not end within its turns.'),
  turns_exceeded: meaning(author, 'The model called tools in each of its turns and gave no answer.'),
  flow_failed: meaning(author, 'A fail node ended the run; its own code names the reason.'),
  guardrail_denied: meaning(caller, 'A policy denied a text.'),
  refused: meaning(author, 'The called service does not accept this request.'),
  not_found: meaning(author, 'The called service has no such object, or hides it.'),
  forbidden: meaning(caller, 'The identity of the run does not have the right that the call needs.'),
  grant_ended: meaning(
    caller,
    'The run may make no further calls: its user may no longer invoke the agent, or the gateway no longer has a route for its version.',
  ),
  input_required: meaning(author, 'The called agent asks for more input, which a flow cannot give.'),
  auth_required: meaning(author, 'The called agent asks for another sign-in, which a flow cannot give.'),
  answer_invalid: meaning(platform, 'The answer of a called service does not have the agreed shape.'),
  unavailable: meaning(platform, 'A called service does not answer now.'),
  rate_limited: meaning(platform, 'A called service is over its rate limit: call later.'),
  file_provider_mapping_failed: meaning(platform, 'A file could not be read for the run.'),
  timeout: meaning(author, 'An attempt of a node took longer than its timeoutMs.'),
  deadline_exceeded: meaning(caller, 'The run exceeded its time limit.'),
  budget_exceeded: meaning(caller, 'The run used more nodes, model tokens or bytes than its budget.'),
  cancelled: meaning(caller, 'The caller ended the run.'),
  internal: meaning(platform, 'The run failed for a reason without a specific code.'),
} as const;

export type FlowErrorCode = keyof typeof flowErrors;
