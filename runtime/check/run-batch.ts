import type { CheckedText } from '../rules/checked-text.ts';
import type { CompiledRule, Unit } from '../rules/compiled-section.ts';
import { type Failed, failed } from '../rules/decision.ts';
import type { BatchFinding } from '../rules/read-batch.ts';
import { type CheckClock, isPastDeadline, look, mustYield, yieldToEventLoop } from './check-clock.ts';

const none: readonly BatchFinding[] = [];

/** Findings of the engine passes of a batch, in no order. */
type Found = readonly BatchFinding[] | Failed;

type Batch = {
  readonly rules: readonly CompiledRule[];
  readonly units: readonly Unit[];
  readonly texts: readonly CheckedText[];
  readonly time: CheckClock;
};

/** A running batch. */
type Progress = { next: number; findings: BatchFinding[] | undefined };

/**
 * Runs the engine passes of one batch over all messages. A pass that fails is an error of all its rules; a pass that is
 * too slow is an error of the rules whose timeout it exceeds. The deadline of the stage is compared before and after
 * each pass. Nearly every batch ends within one slice and then returns without a promise.
 */
export function runBatch(batch: Batch): Found | Promise<Found> {
  const progress: Progress = { next: 0, findings: undefined };
  return runInSlice(batch, progress) ?? runInSlices(batch, progress);
}

async function runInSlices(batch: Batch, progress: Progress): Promise<Found> {
  for (;;) {
    await yieldToEventLoop(batch.time);
    const found = runInSlice(batch, progress);
    if (found !== undefined) return found;
  }
}

/** Undefined when the passes must yield to the event loop first. */
function runInSlice({ rules, units, texts, time }: Batch, progress: Progress): Found | undefined {
  for (; progress.next < units.length; progress.next += 1) {
    const unit = units[progress.next];
    if (unit === undefined) continue;
    if (mustYield(time)) return undefined;
    if (isPastDeadline(time)) return failed('stage_timeout');
    const before = time.now;
    const found = runUnit(unit, texts);
    const tookMs = look(time) - before;
    if (found !== none) progress.findings = [...(progress.findings ?? none), ...found];
    if (tookMs > unit.timeoutMs) {
      progress.findings = [...(progress.findings ?? none), ...overdue(rules, unit, tookMs)];
    }
  }
  return isPastDeadline(time) ? failed('stage_timeout') : (progress.findings ?? none);
}

function runUnit(unit: Unit, texts: readonly CheckedText[]): readonly BatchFinding[] {
  let findings: BatchFinding[] | undefined;
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

function overdue(rules: readonly CompiledRule[], unit: Unit, tookMs: number): readonly BatchFinding[] {
  return unit.places
    .filter((place) => tookMs > (rules[place]?.timeoutMs ?? 0))
    .map((place) => ({ place, kind: 'error', code: 'rule_timeout' }));
}
