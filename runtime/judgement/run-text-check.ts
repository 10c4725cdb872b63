import type { CheckErrorCode } from '#contracts/checks';
import type { JudgeJob, JudgeVerdict } from '#contracts/judge';
import { type Clock, systemClock } from '#kit/time/clock';
import type { LoadedBundle } from '../bundle/loaded-bundle.ts';
import type { CheckPorts } from '../check/ports.ts';
import { runCheck } from '../check/run-check.ts';
import { checkAnswer } from '../http/check-answer.ts';
import { checkedText } from '../rules/checked-text.ts';
import type { CompiledSection } from '../rules/compiled-section.ts';
import type { Decision } from '../rules/decision.ts';

type TextCheck = JudgeJob['checks'][number];
type TextResult = JudgeVerdict['results'][number];

/** A clock that does not advance: whether a rule matches must not depend on the load of the machine. */
const stillClock: Clock = { now: () => 0, date: () => new Date(0) };

/**
 * Judges one text as POST /request or /response would in mode buffered. Without providers, rules that need a provider
 * are not run but listed; providers of observe rules are never called, because observe rules never decide.
 */
export async function runTextCheck(
  loaded: LoadedBundle,
  check: TextCheck,
  options: { readonly asksProviders: boolean; readonly marks: boolean },
): Promise<TextResult> {
  const section = loaded.policies.get(check.policyId)?.[check.stage];
  if (section === undefined) return unanswered(check, 'policy_unavailable', []);
  const skipped = namesOfSkipped(section, options.asksProviders);
  const refusal = refusalOf(loaded, check);
  if (refusal !== undefined) return unanswered(check, refusal, skipped);
  const decision = await decide(loaded, check, section, options.asksProviders);
  const answer = checkAnswer(decision, { ...check, maxBodyBytes: loaded.limits.maxBodyBytes });
  const result = present(check, answer.kind === 'failed' ? answer : decision, skipped);
  return options.marks ? { ...result, marks: marksOf(section, check) } : result;
}

/** Maximum number of matches of one rule in one message that are listed. */
const mostMarks = 200;

/** The matches of every mask rule, in the order of the rules. */
function marksOf({ rules }: CompiledSection, { messages }: TextCheck): NonNullable<TextResult['marks']> {
  return messages.flatMap(({ content }, message) => {
    const text = checkedText(Buffer.from(content));
    const unitsBefore = (byte: number): number => text.bytes.subarray(0, byte).toString('utf8').length;
    return rules.flatMap(({ id, effect }) => {
      if (effect.kind !== 'mask') return [];
      return effect
        .find(text, mostMarks)
        .map(({ start, end }) => ({ rule: id, message, start: unitsBefore(start), end: unitsBefore(end) }));
    });
  });
}

function decide(
  loaded: LoadedBundle,
  { messages }: TextCheck,
  section: CompiledSection,
  asksProviders: boolean,
): Promise<Decision> {
  const clock = asksProviders ? systemClock : stillClock;
  const ports: CheckPorts = { clock, tally: { fired() {}, failed() {} }, observers: { start() {} } };
  const steps = asksProviders ? section.steps : section.steps.filter((step) => step.kind === 'batch');
  const deadline = clock.now() + section.deadlineMs;
  const { maxMatches } = loaded.limits;
  return runCheck({ section: { ...section, steps }, messages, maxMatches, deadline, maskDenies: false }, ports);
}

/** The refusals of the runtime before any rule runs. */
function refusalOf({ limits }: LoadedBundle, { stage, messages }: TextCheck): CheckErrorCode | undefined {
  const body = stage === 'request' ? { messages } : { choices: messages.map((message) => ({ message })) };
  if (Buffer.byteLength(JSON.stringify({ body }), 'utf8') > limits.maxBodyBytes) return 'body_too_large';
  return messages.length > limits.maxMessages ? 'message_limit' : undefined;
}

function namesOfSkipped(section: CompiledSection, asksProviders: boolean): readonly string[] {
  return section.rules
    .filter((rule) => rule.effect.kind === 'ask' && !(asksProviders && rule.mode === 'enforce'))
    .map((rule) => rule.id);
}

function unanswered({ name }: TextCheck, code: CheckErrorCode, skipped: readonly string[]): TextResult {
  return { name, decision: 'Failed', code, rules: [], skipped: [...skipped] };
}

function present({ name }: TextCheck, decision: Decision, notRun: readonly string[]): TextResult {
  const skipped = [...notRun];
  switch (decision.kind) {
    case 'pass':
      return { name, decision: 'Pass', rules: [], skipped };
    case 'deny':
      return { name, decision: 'Reject', rules: [decision.rule], skipped };
    case 'mask':
      return { name, decision: 'Mask', rules: [...decision.rules], contents: [...decision.contents], skipped };
    case 'failed': {
      const rules = decision.rule === undefined ? [] : [decision.rule];
      const cause = decision.cause === undefined ? {} : { cause: decision.cause };
      return { name, decision: 'Failed', code: decision.code, ...cause, rules, skipped };
    }
  }
}
