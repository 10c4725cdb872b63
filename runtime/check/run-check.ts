import type { CheckMessage } from '#contracts/checks';
import { type CheckedText, checkedText } from '../rules/checked-text.ts';
import type { CompiledRule, CompiledSection, Question, SectionStep, Verdict } from '../rules/compiled-section.ts';
import { type Decision, type Denied, denied, type Failed, failed, passed } from '../rules/decision.ts';
import { type BatchFinding, readBatch } from '../rules/read-batch.ts';
import { collectMatches, replaceMatches, startCollection } from '../rules/replace-matches.ts';
import { askRule } from './ask-rule.ts';
import { type CheckClock, isPastDeadline, look, mustYield, startCheckClock, yieldToEventLoop } from './check-clock.ts';
import type { CheckPorts } from './ports.ts';
import { runBatch } from './run-batch.ts';

type Check = {
  readonly section: CompiledSection;
  readonly messages: readonly CheckMessage[];
  readonly maxMatches: number;
  /** Deadline of the stage, on the monotonic clock. */
  readonly deadline: number;
  /** A mask match denies the text instead of replacing it (`gateway:output:mask-stream`). */
  readonly maskDenies: boolean;
  /** A signal that is aborted when the client has closed the connection. */
  readonly signal?: AbortSignal | undefined;
};

type MaskMatch = { readonly place: number; readonly text: number };

/** A running check: its texts as bytes, and the matches of mask rules that were found up to now. */
type Run = Check & {
  readonly ports: CheckPorts;
  readonly texts: readonly CheckedText[];
  readonly question: Question;
  readonly time: CheckClock;
  readonly masked: MaskMatch[];
};

/**
 * Judges messages by one section (`guardrail:execution:*`): every rule sees the original text, a deny or a failure of
 * an enforced rule ends the check, and replacements are collected and applied at the end. Never rejects: a check that
 * cannot be completed is a failed decision.
 */
export async function runCheck(check: Check, ports: CheckPorts): Promise<Decision> {
  const run: Run = {
    ...check,
    ports,
    texts: check.messages.map((message) => checkedText(Buffer.from(message.content, 'utf8'))),
    question: { stage: check.section.stage, messages: check.messages },
    time: startCheckClock(ports.clock, check.deadline),
    masked: [],
  };
  try {
    for (const step of check.section.steps) {
      const stop = step.kind === 'batch' ? judgeBatch(run, step) : judgeByProvider(run, step.place);
      const stopped = stop instanceof Promise ? await stop : stop;
      if (stopped !== undefined) return stopped;
    }
    const decision = conclude(run);
    return decision instanceof Promise ? await decision : decision;
  } catch {
    return failed('internal');
  }
}

type Stop = Denied | Failed | undefined;

function judgeBatch(run: Run, batch: Extract<SectionStep, { kind: 'batch' }>): Stop | Promise<Stop> {
  const { texts, time } = run;
  const found = runBatch({ rules: run.section.rules, units: batch.units, texts, time });
  return found instanceof Promise ? found.then((late) => judgeFound(run, batch, late)) : judgeFound(run, batch, found);
}

function judgeFound(
  run: Run,
  batch: Extract<SectionStep, { kind: 'batch' }>,
  found: readonly BatchFinding[] | Failed,
): Stop {
  if ('code' in found) return found;
  if (found.length === 0) {
    startObservers(run, batch.observers, batch.to);
    return undefined;
  }
  return judgeFindings(run, batch, found);
}

function judgeFindings(
  run: Run,
  batch: Extract<SectionStep, { kind: 'batch' }>,
  findings: readonly BatchFinding[],
): Stop {
  const reading = readBatch(run.section.rules, findings, batch.to);
  startObservers(run, batch.observers, reading.reached);
  for (const { rule, error } of reading.counted) {
    if (error === undefined) run.ports.tally.fired(rule);
    else run.ports.tally.failed(rule, error);
  }
  run.masked.push(...reading.masked);
  return reading.stop;
}

function startObservers(run: Run, places: readonly number[], before: number): void {
  for (const place of places) {
    const rule = run.section.rules[place];
    if (rule !== undefined && place < before) run.ports.observers.start(rule, run.question);
  }
}

async function judgeByProvider(run: Run, place: number): Promise<Stop> {
  const rule = run.section.rules[place];
  if (rule === undefined) throw new RangeError('a step names a rule that its section does not contain');
  const { clock, tally } = run.ports;
  const verdict = await askRule(rule, run.question, { clock, deadline: run.deadline, signal: run.signal });
  look(run.time);
  switch (verdict.kind) {
    case 'allow':
      return undefined;
    case 'deny':
      tally.fired(rule);
      return denied(rule.id);
    case 'failed':
      tally.failed(rule, verdict.code);
      return { ...failed(verdict.code, rule.id), ...failedProvider(rule, verdict) };
  }
}

function failedProvider(
  { effect }: CompiledRule,
  { cause }: Extract<Verdict, { kind: 'failed' }>,
): Pick<Failed, 'cause' | 'provider'> {
  return cause === undefined || effect.kind !== 'ask' ? {} : { cause, provider: effect.provider };
}

/** The decision if all rules ran and none denies: pass, or the replacements of the mask rules that matched. */
function conclude(run: Run): Decision | Promise<Decision> {
  if (isPastDeadline(run.time)) return failed('stage_timeout');
  const [first] = run.masked;
  if (first === undefined) return passed;
  return run.maskDenies ? denied(run.section.rules[first.place]?.id ?? '') : replace(run);
}

async function replace(run: Run): Promise<Decision> {
  const collection = startCollection(run.maxMatches);
  for (const match of run.masked) {
    const rule = run.section.rules[match.place];
    const text = run.texts[match.text];
    if (rule === undefined || text === undefined)
      throw new RangeError('a match names a rule or a message that the check does not contain');
    if (mustYield(run.time)) await yieldToEventLoop(run.time);
    if (isPastDeadline(run.time)) return failed('stage_timeout');
    const fault = collect(collection, rule, match, text);
    look(run.time);
    if (fault !== undefined) return fault;
  }
  const contents = run.messages.map((message) => message.content);
  const bytes = run.texts.map((text) => text.bytes);
  const masked = replaceMatches(collection, contents, bytes);
  look(run.time);
  return isPastDeadline(run.time) ? failed('stage_timeout') : masked;
}

function collect(...[collection, rule, match, text]: Parameters<typeof collectMatches>): Failed | undefined {
  try {
    return collectMatches(collection, rule, match, text);
  } catch {
    return failed('engine_failure', rule.id);
  }
}
