import { isPlainId } from './plain-id.ts';
import type { StageGuard } from './version-guard.ts';

/** The parts of a call outside of its body. */
export type CallHead = {
  /** Path at the process of the version. */
  readonly path: string;
  /** The query that is sent to the process, with its question mark; empty without a query. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
};

const count = /^\d{1,6}$/;
const version = /^\d{1,3}\.\d{1,3}$/;
const states = 'UNSPECIFIED|SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED';

/** Parameters of A2A whose values of these forms contain no text. */
const parameterForms: Readonly<Record<string, RegExp>> = {
  status: new RegExp(`^TASK_STATE_(?:${states})$`),
  pageSize: count,
  historyLength: count,
  statusTimestampAfter: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/,
  includeArtifacts: /^(?:true|false)$/,
  'A2A-Version': version,
};

/** Headers that are sent on in these forms only. */
const headerForms: Readonly<Record<string, RegExp>> = {
  'content-type': /^application\/(?:a2a\+)?json(?:\s*;\s*charset="?utf-8"?)?$/i,
  'a2a-version': version,
  'mcp-protocol-version': /^\d{4}-\d\d-\d\d$/,
};
/** Headers that are sent on after their check. */
const judgedHeaders = ['mcp-session-id', 'a2a-extensions'] as const;
const mediaRange = /^(?:\*\/\*|application\/(?:\*|json|a2a\+json|problem\+json)|text\/(?:\*|plain|event-stream))$/i;
const weight = /^q=[01](?:\.\d{1,3})?$/i;

/**
 * Judges the path, the query and the headers of a call of an image. A mask of one of these texts denies the call,
 * because a masked name would name something else.
 * @param hasBody whether the process gets a body, which the gateway has written as JSON
 * @returns the headers that the process gets
 * @throws AgentRefusal guardrail_denied, guardrail_error
 */
export async function judgeHead(
  guard: Pick<StageGuard, 'judge'>,
  { path, query, headers }: CallHead,
  hasBody: boolean,
): Promise<Record<string, string>> {
  const judged = judgedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
  const texts = [...taskOf(path), ...parametersOf(query), ...judged.map(([, value]) => value)];
  const unknown = texts.filter((text) => !isPlainId(text));
  if (unknown.length > 0) await guard.judge({ id: unknown }, 'id');
  const written = hasBody ? { 'content-type': 'application/json' } : {};
  return { ...written, ...formedHeaders(headers), ...Object.fromEntries(judged) };
}

/** The id of the task, if the path has one. */
function taskOf(path: string): readonly string[] {
  const id = /^\/tasks\/([^/:]+)/.exec(path)?.[1];
  return id === undefined ? [] : [id];
}

/** The values of parameters that may be texts. */
function parametersOf(query: string): readonly string[] {
  return [...new URLSearchParams(query)].flatMap(([name, value]) =>
    parameterForms[name]?.test(value) === true ? [] : [value],
  );
}

function formedHeaders(headers: CallHead['headers']): Record<string, string> {
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => headerForms[name]?.test(value) === true),
  );
  const accepted = (headers['accept'] ?? '').split(',').flatMap(acceptedRange);
  if (accepted.length > 0) kept['accept'] = accepted.join(', ');
  const last = headers['last-event-id'] ?? '';
  if (isPlainId(last)) kept['last-event-id'] = last;
  return kept;
}

/** A known range of media types with its weight, and without its other parameters. */
function acceptedRange(text: string): readonly string[] {
  const [range = '', ...parameters] = text.split(';').map((one) => one.trim());
  return mediaRange.test(range) ? [[range, ...parameters.filter((one) => weight.test(one)).slice(0, 1)].join(';')] : [];
}
