import { checkErrors } from '#contracts/checks';
import { managementErrors, operationFailures } from '#contracts/management-errors';
import { kubeErrorCodes } from '#kube/client/kube-error';
import { failureReasons } from '#resources/model-binding';
import { clientErrors } from '../../dataplane/gateway/relay/client-error.ts';
import { code, page, table } from '../reference/markdown.ts';
import { failureMeanings, resourceErrorMeanings } from '../reference/meanings.ts';

/** Every error code that a caller, a client or the author of a policy can meet. */
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
    'Body: `{"error": {"message", "type", "param", "code"}}`; in a stream the same object stands in one `data:` frame. ' +
      'A check that failed is 503 with type `guardrail_error` and the code of the runtime.',
    table(['Status', 'Type', 'Code', 'Message'], gateway),
    '## Policy management',
    'Body: `{"error": {"code", "message", "traceId", "details": [{"path", "message"}]}}`.',
    table(['Status', 'Code', 'Meaning'], management),
    'Codes with which an operation fails:',
    table(
      ['Code', 'Meaning'],
      Object.entries(operationFailures).map(([name, meaning]) => [code(name), meaning]),
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
