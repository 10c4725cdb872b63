import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import type { ConditionSource } from '../definition/node-parts.ts';
import type { SourcePath } from '../source/problem.ts';
import type { CompileNotes } from './compile-notes.ts';
import { equalValues } from './equal-values.ts';
import { ExpressionFault } from './expression-fault.ts';
import { compileFlowPattern, type Pattern } from './pattern.ts';
import { type FlowReference, findValue, type Scope } from './reference.ts';
import { type CompiledValue, compileValue, evaluateValue, readExpression } from './value.ts';

type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'in';
export type CompiledCondition =
  | { readonly kind: 'compare'; readonly by: Comparison; readonly one: CompiledValue; readonly other: CompiledValue }
  | { readonly kind: 'matches'; readonly value: CompiledValue; readonly pattern: Pattern }
  | { readonly kind: 'exists'; readonly reference: FlowReference }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly CompiledCondition[] }
  | { readonly kind: 'not'; readonly term: CompiledCondition }
  | { readonly kind: 'never' };

/** Compiles a condition. A part with a problem is reported and counts as false. */
export function compileCondition(source: ConditionSource, at: SourcePath, notes: CompileNotes): CompiledCondition {
  let terms = 0;
  function refuse(code: 'condition' | 'pattern' | 'expression', place: SourcePath, message: string): CompiledCondition {
    notes.problems.push({ code, at: place, message });
    return { kind: 'never' };
  }
  function compile(part: ConditionSource, place: SourcePath, depth: number): CompiledCondition {
    const [operator = '', operand] = Object.entries(part)[0] ?? [];
    const here = [...place, operator];
    terms += 1;
    if (depth > flowLimits.conditionDepth) {
      return refuse('condition', here, `is nested deeper than ${flowLimits.conditionDepth} levels`);
    }
    if (terms > flowLimits.conditionTerms) {
      return refuse('condition', here, `is the term after the first ${flowLimits.conditionTerms}: use several nodes`);
    }
    if ('not' in part) return { kind: 'not', term: compile(part.not, here, depth + 1) };
    if (operator === 'and' || operator === 'or') {
      const list = operand as readonly ConditionSource[];
      return { kind: operator, terms: list.map((term, index) => compile(term, [...here, index], depth + 1)) };
    }
    if ('exists' in part) {
      const reference = readExpression(part.exists);
      if (typeof reference === 'string') return refuse('expression', here, reference);
      notes.references.push({ reference, at: here, tolerant: true });
      return { kind: 'exists', reference };
    }
    if ('matches' in part) {
      const value = compileValue(part.matches[0], [...here, 0], notes);
      const pattern = compileFlowPattern(part.matches[1]);
      return typeof pattern === 'string'
        ? refuse('pattern', [...here, 1], pattern)
        : { kind: 'matches', value, pattern };
    }
    const [one, other] = operand as readonly [JsonValue, JsonValue];
    return {
      kind: 'compare',
      by: operator as Comparison,
      one: compileValue(one, [...here, 0], notes),
      other: compileValue(other, [...here, 1], notes),
    };
  }
  return compile(source, at, 1);
}

/** @throws ExpressionFault path_missing, type_mismatch */
export function holds(condition: CompiledCondition, scope: Scope): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.terms.every((term) => holds(term, scope));
    case 'or':
      return condition.terms.some((term) => holds(term, scope));
    case 'not':
      return !holds(condition.term, scope);
    case 'exists':
      return findValue(condition.reference, scope) !== undefined;
    case 'matches': {
      const value = evaluateValue(condition.value, scope);
      if (typeof value !== 'string') throw new ExpressionFault('type_mismatch', 'matches needs a text');
      if (Buffer.byteLength(value) > flowLimits.patternTextBytes) {
        // A text over the limit must decide neither way.
        throw new ExpressionFault('type_mismatch', `matches reads at most ${flowLimits.patternTextBytes} bytes`);
      }
      return condition.pattern.test(value);
    }
    case 'compare':
      return compare(condition.by, evaluateValue(condition.one, scope), evaluateValue(condition.other, scope));
    case 'never':
      return false;
  }
}

function compare(by: Comparison, one: JsonValue, other: JsonValue): boolean {
  switch (by) {
    case 'eq':
      return equalValues(one, other);
    case 'ne':
      return !equalValues(one, other);
    case 'in':
      if (!Array.isArray(other)) throw new ExpressionFault('type_mismatch', 'in needs a list as its second value');
      return other.some((item) => equalValues(one, item));
    case 'lt':
      return order(one, other) < 0;
    case 'le':
      return order(one, other) <= 0;
    case 'gt':
      return order(one, other) > 0;
    case 'ge':
      return order(one, other) >= 0;
  }
}

/** Texts are ordered by code units, the same everywhere. */
function order(one: JsonValue, other: JsonValue): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other);
  throw new ExpressionFault('type_mismatch', 'a comparison by order needs two numbers or two texts');
}
