import { checkErrors } from '#contracts/checks';
import { fuzzBundle } from './fuzz-bundle.ts';
import type { WireResponse } from './read-answer.ts';
import { readJson } from './reference-json.ts';
import type { Expected, Told } from './reference-runtime.ts';
import { isCode, wireDenyText, wireStatuses } from './wire-contract.ts';

/** The result of comparing one answer; `late` if the runtime refused because the machine was too busy. */
type ValidationResult =
  | { readonly kind: 'good' | 'late'; readonly told: Told }
  | { readonly kind: 'malformed_passed' | 'outside_contract'; readonly fault: string };

const late: readonly Told[] = ['stage_timeout', 'rule_timeout'];

/**
 * Whether an answer is valid (`guardrail:result:*`, `guardrail:error-body:*`) and equals the answer that the reference
 * implementation expects.
 */
export function judgeAnswer(answer: WireResponse, expected: Expected): ValidationResult {
  const told = readTold(answer, expected);
  if (told !== undefined && expected.told.includes(told)) return { kind: 'good', told };
  if (expected.malformed && answer.status === 200) {
    return { kind: 'malformed_passed', fault: `a malformed request received the answer ${shown(answer)}` };
  }
  if (told === undefined)
    return { kind: 'outside_contract', fault: `the answer has an unknown shape: ${shown(answer)}` };
  if (late.includes(told)) return { kind: 'late', told };
  return { kind: 'outside_contract', fault: `expected ${expected.told.join(' or ')}, received ${shown(answer)}` };
}

function shown({ status, headers, body }: WireResponse): string {
  return `${status} ${JSON.stringify(Object.fromEntries(headers))} ${body.toString('utf8').slice(0, 300)}`;
}

/** The outcome that an answer states; undefined when its shape violates the contract. */
function readTold(answer: WireResponse, expected: Expected): Told | undefined {
  const { status, headers, body } = answer;
  const media = headers.get('content-type') ?? '';
  if (expected.told.includes('page') && status === 200) return isPage(answer, expected) ? 'page' : undefined;
  if (media !== 'application/json' || !hasOnlyKnownHeaders(headers)) return undefined;
  if (expected.head) return expected.told.find((one) => isCode(one) && wireStatuses[one] === status);
  // Duplicate keys, which JSON.parse would accept.
  const value = readJson(body) === undefined ? undefined : objectOf(body.toString('utf8'));
  if (value === undefined) return undefined;
  return status === 200 ? readResult(value, expected) : readError(value, answer);
}

function isPage({ headers, body }: WireResponse, { media, head }: Expected): boolean {
  return media?.test(headers.get('content-type') ?? '') === true && (head || body.length > 0);
}

const known = new Set(['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'allow']);

/** No Retry-After (`guardrail:stateless:no-retry-after`), no trace id in a success, no part of the request. */
function hasOnlyKnownHeaders(headers: WireResponse['headers']): boolean {
  return [...headers.keys()].every((name) => known.has(name));
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(text: string): Json | undefined {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : undefined;
}

function hasExactly(value: Json, ...keys: readonly string[]): boolean {
  return Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
}

/** The optional last part of a message, which names the rule that failed. */
const causes = [
  '',
  ...fuzzBundle().policies.flatMap(({ request }) => request.baseline.map(({ id }) => ` Rule: ${id}.`)),
];

function readError(value: Json, { status, headers }: WireResponse): Told | undefined {
  const { code, message, traceId } = value;
  if (!hasExactly(value, 'code', 'message', 'traceId') || typeof code !== 'string' || !isCode(code)) return undefined;
  if (typeof traceId !== 'string' || !/^(?!0{32})[0-9a-f]{32}$/.test(traceId)) return undefined;
  if (wireStatuses[code] !== status || (code === 'method_not_allowed') !== headers.has('allow')) return undefined;
  return causes.some((cause) => message === checkErrors[code].meaning + cause) ? code : undefined;
}

function readResult(value: Json, { masked }: Expected): Told | undefined {
  const { action } = value;
  if (!hasExactly(value, 'action') || !isObject(action)) return undefined;
  switch (action['reason']) {
    case 'policy_pass':
      return hasExactly(action, 'reason') ? 'policy_pass' : undefined;
    case 'policy_denied': {
      const exact = hasExactly(action, 'body', 'status_code', 'reason');
      return exact && action['body'] === wireDenyText && action['status_code'] === 403 ? 'policy_denied' : undefined;
    }
    case 'content_redacted':
      return hasExactly(action, 'body', 'reason') && JSON.stringify(action['body']) === masked
        ? 'content_redacted'
        : undefined;
    default:
      return undefined;
  }
}
