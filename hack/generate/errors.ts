import { agentErrors } from '#contracts/agent-errors';
import { agentProblemCodes } from '#contracts/agent-state';
import { catalogueErrors } from '#contracts/catalogue-errors';
import { checkErrors } from '#contracts/checks';
import { flowErrors } from '#contracts/flow-errors';
import { managementErrors, operationFailures } from '#contracts/management-errors';
import { memoryErrors } from '#contracts/memory-errors';
import { retrievalErrors } from '#contracts/retrieval-errors';
import { type KubeErrorCode, kubeErrorCodes } from '#kube/client/kube-error';
import { type FailureReason, failureReasons } from '#resources/model-binding';
import { clientErrors } from '../../dataplane/gateway/relay/client-error.ts';
import { code, page, table } from '../reference/markdown.ts';

/** Every error code that a caller, a client or the author of a policy can receive. */
export function generate(): ReadonlyMap<string, string> {
  const runtime = Object.entries(checkErrors).map(([name, { status, meaning }]) => [
    String(status),
    code(name),
    meaning,
  ]);
  const gateway = Object.entries(clientErrors).map(([name, { status, type, message }]) => [
    String(status),
    code(type),
    code(name),
    message,
  ]);
  const management = Object.entries(managementErrors).map(([name, { status, meaning }]) => [
    String(status),
    code(name),
    meaning,
  ]);
  const parts = [
    '## Runtime',
    'Body: `{"code", "message", "traceId"}`. Every status but 200 forbids the protected action.',
    table(['Status', 'Code', 'Meaning'], runtime),
    '## Gateway',
    'Body: `{"error": {"message", "type", "param", "code"}}`. A check that failed is 503 with type `guardrail_error` and the ' +
      'code of the runtime.',
    'A stream that has begun has status 200 already. A client recognises its failure by one frame `data: {"error": {…}}` with ' +
      'the same object: `error.type` is `guardrail_blocked` after a deny or a mask match, `guardrail_error` after a failed ' +
      'check. The frame has no `event:` line, because official clients raise an error for an `error` member and ignore ' +
      'frames with a name ([0003](../decisions/0003-stream-errors-are-data-frames.md)). No `[DONE]` follows, and the text ' +
      'before it is incomplete. Streams of the Responses API have the same frame.',
    table(['Status', 'Type', 'Code', 'Message'], gateway),
    '## Policy management',
    'Body: `{"error": {"code", "message", "traceId", "details": [{"path", "message"}]}}`.',
    table(['Status', 'Code', 'Meaning'], management),
    'Codes with which an operation fails:',
    table(
      ['Code', 'Meaning'],
      Object.entries(operationFailures).map(([name, meaning]) => [code(name), meaning]),
    ),
    '## Retrieval',
    'Body: `{"code", "message", "trace_id"}`. The message of a 400 names each member of the body by its path.',
    table(
      ['Status', 'Code', 'Meaning'],
      Object.entries(retrievalErrors).map(([name, { status, meaning }]) => [String(status), code(name), meaning]),
    ),
    '## Flows',
    'Codes with which a node or a run of a flow ends, and where the remedy is: with the author, the caller or the platform.',
    table(
      ['Code', 'By', 'Meaning'],
      Object.entries(flowErrors).map(([name, { by, meaning }]) => [code(name), by, meaning]),
    ),
    '## Agents',
    'Body on the paths of A2A: `{"error": {"code", "status", "message", "details"}}`, where each of the details has the code ' +
      'and the trace id in `metadata`; on all others `application/problem+json`. A call of MCP that fails has code, message ' +
      'and trace id as its text.',
    table(
      ['Status', 'Code', 'Reason of A2A', 'Meaning'],
      Object.entries(agentErrors).map(([name, { status, a2a, meaning }]) => [
        String(status),
        code(name),
        a2a.map(code).join(', '),
        meaning,
      ]),
    ),
    'Codes for which a process of an agent is not ready:',
    table(
      ['Code', 'Meaning and what to do'],
      agentProblemCodes.map((name) => [code(name), agentProblemMeanings[name]]),
    ),
    '## Memory',
    'Body: `{"code", "message", "trace_id"}`. The message of a 400 names each member of the body by its path.',
    table(
      ['Status', 'Code', 'Meaning'],
      Object.entries(memoryErrors).map(([name, { status, meaning }]) => [String(status), code(name), meaning]),
    ),
    '## Catalogue',
    'Body: `{"error": {"code", "message", "traceId", "details": [{"path", "message"}]}}`.',
    table(
      ['Status', 'Code', 'Meaning'],
      Object.entries(catalogueErrors).map(([name, { status, meaning }]) => [String(status), code(name), meaning]),
    ),
    '## Applications of a policy',
    'Reasons for which an application of a revision to a model ends as failed; the previous application keeps serving.',
    table(
      ['Reason', 'Meaning and what to do'],
      failureReasons.map((reason) => [code(reason), failureMeanings[reason]]),
    ),
    '## Resource servers',
    table(
      ['Code', 'Meaning'],
      kubeErrorCodes.map((name) => [code(name), resourceErrorMeanings[name]]),
    ),
  ];
  const introduction = 'Codes are for programs and do not change; messages are for people and may.';
  return new Map([['docs/reference/errors.md', page('Errors', introduction, parts)]]);
}

/** Rows of the error reference for agents that are not ready. */
const agentProblemMeanings: Readonly<Record<(typeof agentProblemCodes)[number], string>> = {
  bundle_invalid: 'The bundle does not have its shape or its digest: let the operator write it again.',
  source_invalid: 'The bundle or the flow in it is missing or refused: run portcullis flow check.',
  manifest_invalid: 'The publish manifest is refused: the message names line and field.',
  policy_invalid: 'A policy that the version names is not served here, or in another revision: apply it.',
  entry_point_invalid: 'The manifest names an entry point that the flow does not have.',
  card_invalid: 'No valid agent card follows from the manifest and the address of the version.',
  setting_invalid: 'The flow uses a service for which this process has no address. The message names it.',
  advertised_capability_unavailable:
    'The manifest asks for a mode that this release does not have, or that the check at the start did not confirm.',
  starting: 'The version is being read and checked.',
  shutting_down: 'The process is shutting down: it completes accepted requests and accepts no new ones.',
};

/** Column of the error reference: the remedy of a failed application for the author of a policy. */
const failureMeanings: Readonly<Record<FailureReason, string>> = {
  policy_archived: 'The policy is archived and cannot be newly applied: set its lifecycle to Draft, or choose another.',
  policy_revision_unknown:
    'The policy has no such revision, or there is no such policy: correct policyRef. The application is retried when the revision exists.',
  profile_unsupported: 'The content profile is not one that the runtime knows: correct contentProfile.',
  bundle_invalid: 'A rule does not compile or the bundle is too large: the condition names rule and reason.',
  rule_too_costly:
    'A local rule could take longer than its share of the time budget: narrow the rule, raise its time, or move it into a detector.',
  policy_tests_failed: 'A test of the policy got another decision than it expects: the condition names it.',
  provider_unknown:
    'The model or a rule names a provider that is not approved in this environment, or with another credential. The application is retried when it is approved.',
  provider_unavailable: 'A provider that an enforced rule names does not answer: check its endpoint and credential.',
  replica_rejected: 'A gateway replica could not use the route; the previous application was restored.',
  progress_deadline_exceeded:
    'Processes were not ready, or not every replica confirmed, in time; the application may still complete.',
  superseded: 'A later application replaced this one before it was observed.',
};

/** Rows of the error reference for codes of calls to a resource server. */
const resourceErrorMeanings: Readonly<Record<KubeErrorCode, string>> = {
  not_found: 'There is no such object, or no such path.',
  already_exists: 'An object of this name exists.',
  conflict: 'The object has another uid or version than the precondition of the write.',
  precondition_failed: 'A patch did not apply, most often because the object had changed.',
  invalid: 'The object is refused; the answer names each field.',
  gone: 'The version of the list or watch is too old: list again.',
  too_large_resource_version: 'The server has not yet seen the version that was asked for.',
  unauthenticated: 'The token is missing or wrong.',
  forbidden: 'The token does not give this right.',
  too_many_requests: 'The server asks the client to wait.',
  unavailable: 'The server cannot answer now.',
  network: 'No complete response arrived; a write may or may not have been made.',
  storage_full: 'The server cannot store more: free space on its disk.',
};
