import { type CheckErrorCode, checkErrors, denyText } from '#contracts/checks';
import type { Answer } from './converse.ts';
import type { Expected, Told } from './reference-runtime.ts';

/** What was found about one answer; `late` where the machine was too busy, which is a refusal like any other. */
export type Judgement =
  | { readonly kind: 'good' | 'late'; readonly told: Told }
  | { readonly kind: 'malformed_passed' | 'outside_contract'; readonly fault: string };

const late: readonly Told[] = ['stage_timeout', 'rule_timeout'];

/** Whether an answer is one of the contract (document 1, sections 2.3, 2.5 and 7), and the one that was due. */
export function judgeAnswer(answer: Answer, expected: Expected): Judgement {
  const told = readAnswer(answer, expected);
  if (told === undefined) return { kind: 'outside_contract', fault: `an answer of no known shape: ${shown(answer)}` };
  if (expected.told.includes(told)) return { kind: 'good', told };
  if (expected.malformed && answer.status === 200) {
    return { kind: 'malformed_passed', fault: `a malformed request was answered ${shown(answer)}` };
  }
  if (late.includes(told)) return { kind: 'late', told };
  return { kind: 'outside_contract', fault: `not ${expected.told.join(' or ')}, but ${shown(answer)}` };
}

function shown({ status, body }: Answer): string {
  return `${status} ${body.toString('utf8').slice(0, 300)}`;
}

/** What an answer says, or undefined where it says it in a shape that the contract does not have. */
function readAnswer(answer: Answer, expected: Expected): Told | undefined {
  const { status, headers, body } = answer;
  if (headers.has('retry-after') || !headers.has('content-length')) return undefined;
  if (expected.told.includes('page') && status === 200) return 'page';
  if (headers.get('content-type') !== 'application/json') return undefined;
  if (expected.head) return expected.told.find((one) => statusOf(one) === status);
  const value = objectOf(body.toString('utf8'));
  if (value === undefined) return undefined;
  return status === 200 ? readResult(value, expected) : readError(value, answer);
}

function statusOf(told: Told): number | undefined {
  return Object.hasOwn(checkErrors, told) ? checkErrors[told as CheckErrorCode].status : undefined;
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function hasExactly(value: Json, ...keys: readonly string[]): boolean {
  return Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
}

function readError(value: Json, { status, headers }: Answer): Told | undefined {
  const { code, message, traceId } = value;
  if (!hasExactly(value, 'code', 'message', 'traceId') || typeof code !== 'string') return undefined;
  if (!Object.hasOwn(checkErrors, code) || !/^[0-9a-f]{32}$/.test(String(traceId))) return undefined;
  const known = checkErrors[code as CheckErrorCode];
  if (known.status !== status || (code === 'method_not_allowed') !== headers.has('allow')) return undefined;
  return typeof message === 'string' && message.startsWith(known.meaning) ? (code as CheckErrorCode) : undefined;
}

function readResult(value: Json, { masked }: Expected): Told | undefined {
  const { action } = value;
  if (!hasExactly(value, 'action') || !isObject(action)) return undefined;
  switch (action['reason']) {
    case 'policy_pass':
      return hasExactly(action, 'reason') ? 'policy_pass' : undefined;
    case 'policy_denied': {
      const exact = hasExactly(action, 'body', 'status_code', 'reason');
      return exact && action['body'] === denyText && action['status_code'] === 403 ? 'policy_denied' : undefined;
    }
    case 'content_redacted': {
      const exact = hasExactly(action, 'body', 'reason') && isObject(action['body']);
      if (masked !== undefined && JSON.stringify(action['body']) !== masked) return undefined;
      return exact ? 'content_redacted' : undefined;
    }
    default:
      return undefined;
  }
}
