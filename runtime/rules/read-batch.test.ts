import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CompiledRule } from './compiled-section.ts';
import { denied, failed } from './decision.ts';
import { type BatchFinding, type BatchReading, readBatch } from './read-batch.ts';

type Kind = 'deny' | 'mask';

function rule(id: string, mode: CompiledRule['mode'], kind: Kind): CompiledRule {
  const effect =
    kind === 'deny'
      ? ({ kind } as const)
      : ({ kind, text: { replacement: '#', keepFirst: 0, keepLast: 0 }, find: () => [] } as const);
  return { policyId: 'p', stage: 'request', id, kind: 'regex', mode, timeoutMs: 10, effect };
}

const match = (place: number, text = 0): BatchFinding => ({ place, kind: 'match', text });
const error = (place: number): BatchFinding => ({ place, kind: 'error', code: 'engine_failure' });

/** The expected result: runs the rules one after another, as the contract states. */
function strictly(rules: readonly CompiledRule[], findings: readonly BatchFinding[]): Omit<BatchReading, 'reached'> {
  const counted: { rule: CompiledRule; error?: 'engine_failure' }[] = [];
  const masked: { place: number; text: number }[] = [];
  for (const [place, current] of rules.entries()) {
    const own = findings.filter((finding) => finding.place === place);
    if (own.length === 0) continue;
    const broken = own.some(({ kind }) => kind === 'error');
    counted.push(broken ? { rule: current, error: 'engine_failure' } : { rule: current });
    if (current.mode === 'observe') continue;
    if (broken) return { stop: failed('engine_failure', current.id), counted, masked };
    if (current.effect.kind === 'deny') return { stop: denied(current.id), counted, masked };
    const texts = own.flatMap((finding) => (finding.kind === 'match' ? [finding.text] : []));
    for (const text of texts.sort((left, right) => left - right)) masked.push({ place, text });
  }
  return { stop: undefined, counted, masked };
}

describe('findings of a batch', () => {
  const rules = [
    rule('a', 'enforce', 'mask'),
    rule('b', 'observe', 'deny'),
    rule('c', 'enforce', 'deny'),
    rule('d', 'enforce', 'deny'),
  ];

  test('a batch without findings passes', () => {
    expect(readBatch(rules, [], 4)).toEqual({ stop: undefined, reached: 4, counted: [], masked: [] });
  });

  test('findings of a batch are decided by the first enforced rule that denies', () => {
    const reading = readBatch(rules, [match(3), match(2, 5), match(2, 1), match(1), match(0, 7)], 4);
    expect(reading.stop).toEqual(denied('c'));
    expect(reading.reached).toBe(2);
    expect(reading.counted.map((counted) => counted.rule.id)).toEqual(['a', 'b', 'c']);
    expect(reading.masked).toEqual([{ place: 0, text: 7 }]);
  });

  test('findings of a batch are a failure where the first enforced rule could not be judged', () => {
    expect(readBatch(rules, [match(3), error(2)], 4).stop).toEqual(failed('engine_failure', 'c'));
    expect(readBatch(rules, [match(2), error(3)], 4).stop).toEqual(denied('c'));
    expect(readBatch(rules, [match(0), error(0)], 4).stop).toEqual(failed('engine_failure', 'a'));
  });

  test('findings of a batch of an observe rule are only counted, once', () => {
    const reading = readBatch(rules, [error(1), match(1, 3), match(1, 4)], 4);
    expect(reading).toEqual({
      stop: undefined,
      reached: 4,
      counted: [{ rule: rules[1], error: 'engine_failure' }],
      masked: [],
    });
  });

  test('findings of a batch are read like those of rules that run one after another', () => {
    const anyRule = fc.record({
      mode: fc.constantFrom('enforce', 'observe'),
      kind: fc.constantFrom<Kind>('deny', 'mask'),
    });
    const anyFinding = fc.record({ place: fc.nat(5), text: fc.nat(3), broken: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(anyRule, { minLength: 6, maxLength: 6 }),
        fc.uniqueArray(anyFinding, { maxLength: 10, selector: ({ place, text }) => `${place}:${text}` }),
        (shapes, found) => {
          const list = shapes.map(({ mode, kind }, index) => rule(`r${index}`, mode as CompiledRule['mode'], kind));
          const findings = found.map(({ place, text, broken }) => (broken ? error(place) : match(place, text)));
          const { reached: _, ...reading } = readBatch(list, findings, 6);
          expect(reading).toEqual(strictly(list, findings));
        },
      ),
    );
  });
});
