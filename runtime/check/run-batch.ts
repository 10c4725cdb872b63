import type { CompiledRule, Step, Unit } from '../rules/compiled-section.ts';
import { type Failed, failed } from '../rules/decision.ts';
import type { CheckedText } from '../rules/pattern/checked-text.ts';
import type { Finding } from '../rules/read-batch.ts';
import { giveWay, mustGiveWay, type Turn } from './turn.ts';

const none: readonly Finding[] = [];

/**
 * Runs the engine passes of one batch over all messages and returns what they found, in no order.
 * A pass that fails, or takes longer than a rule in it may, is an error of these rules.
 * The deadline of the stage is looked at before and after each pass.
 */
export async function runBatch(
  rules: readonly CompiledRule[],
  batch: Extract<Step, { kind: 'batch' }>,
  texts: readonly CheckedText[],
  turn: Turn,
): Promise<readonly Finding[] | Failed> {
  let findings: Finding[] | undefined;
  let now = turn.clock.now();
  for (const unit of batch.units) {
    if (mustGiveWay(turn, now)) {
      await giveWay(turn);
      now = turn.since;
    }
    if (now >= turn.deadline) return failed('stage_timeout');
    const found = runUnit(unit, texts);
    const before = now;
    now = turn.clock.now();
    if (found !== none) findings = findings === undefined ? [...found] : findings.concat(found);
    if (now - before > unit.timeoutMs) {
      findings = (findings ?? []).concat(overdue(rules, unit, now - before));
    }
  }
  return now >= turn.deadline ? failed('stage_timeout') : (findings ?? none);
}

function runUnit(unit: Unit, texts: readonly CheckedText[]): readonly Finding[] {
  let findings: Finding[] | undefined;
  for (let index = 0; index < texts.length; index += 1) {
    const text = texts[index];
    if (text === undefined) continue;
    let places: readonly number[];
    try {
      places = unit.firing(text);
    } catch {
      return unit.places.map((place) => ({ place, kind: 'error', code: 'engine_failure' }));
    }
    if (places.length === 0) continue;
    findings ??= [];
    for (const place of places) findings.push({ place, kind: 'match', text: index });
  }
  return findings ?? none;
}

function overdue(rules: readonly CompiledRule[], unit: Unit, tookMs: number): readonly Finding[] {
  return unit.places
    .filter((place) => tookMs > (rules[place]?.timeoutMs ?? 0))
    .map((place) => ({ place, kind: 'error', code: 'rule_timeout' }));
}
