import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import type { SourcePath } from '../source/problem.ts';
import type { CompileNotes } from './compile-notes.ts';
import { measureValue } from './measure-value.ts';
import { type FlowReference, findValue, parseReference, requireValue, type Scope } from './reference.ts';

/** A JSON value with its expressions parsed; their values are never parsed for expressions again. */
export type CompiledValue =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'reference'; readonly reference: FlowReference }
  | { readonly kind: 'default'; readonly reference: FlowReference; readonly otherwise: JsonValue }
  | { readonly kind: 'list'; readonly items: readonly CompiledValue[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, CompiledValue])[] };

/**
 * Compiles a value: a string `${…}` is an expression, `{from, default}` an expression that may have no value, and
 * `{literal}` a value without expressions.
 */
export function compileValue(value: JsonValue, at: SourcePath, notes: CompileNotes): CompiledValue {
  if (typeof value === 'string') return compileText(value, at, notes);
  if (Array.isArray(value)) {
    return { kind: 'list', items: value.map((item, index) => compileValue(item, [...at, index], notes)) };
  }
  if (value === null || typeof value !== 'object') return { kind: 'literal', value };
  const names = Object.keys(value);
  if (names.length === 1 && names[0] === 'literal') return { kind: 'literal', value: value['literal'] ?? null };
  if (names.length === 2 && Object.hasOwn(value, 'from') && Object.hasOwn(value, 'default')) {
    return compileDefault(value, at, notes);
  }
  const members = Object.entries(value).map(
    ([name, member]) => [name, compileValue(member, [...at, name], notes)] as const,
  );
  return { kind: 'object', members };
}

function compileDefault(value: { [key: string]: JsonValue }, at: SourcePath, notes: CompileNotes): CompiledValue {
  const reference = readExpression(value['from'] ?? null);
  if (typeof reference !== 'string') {
    notes.references.push({ reference, at: [...at, 'from'], tolerant: true });
    return { kind: 'default', reference, otherwise: value['default'] ?? null };
  }
  notes.problems.push({ code: 'expression', at: [...at, 'from'], message: reference });
  return { kind: 'literal', value: null };
}

function compileText(text: string, at: SourcePath, notes: CompileNotes): CompiledValue {
  if (!text.includes('${')) return { kind: 'literal', value: text };
  const reference = readExpression(text);
  if (typeof reference !== 'string') {
    notes.references.push({ reference, at, tolerant: false });
    return { kind: 'reference', reference };
  }
  notes.problems.push({ code: 'expression', at, message: reference });
  return { kind: 'literal', value: null };
}

/** Reads `${…}` as a whole; returns the problem as a sentence for any other value. */
export function readExpression(value: JsonValue): FlowReference | string {
  const inner = typeof value === 'string' ? /^\$\{([^{}]*)\}$/.exec(value)?.[1] : undefined;
  if (inner !== undefined) return parseReference(inner);
  return 'must be one expression as a whole, such as input.question in braces after a dollar sign: use a template node to write it into a text, or {literal: …} for the characters themselves';
}

/**
 * The value with its expressions evaluated. A value that is built from others has at most `builtBytes`, because it may
 * refer to one part many times.
 * @throws ExpressionFault path_missing, output_invalid
 */
export function evaluateValue(compiled: CompiledValue, scope: Scope): JsonValue {
  const value = evaluate(compiled, scope);
  if (compiled.kind === 'list' || compiled.kind === 'object') measureValue(value, flowLimits.builtBytes);
  return value;
}

function evaluate(compiled: CompiledValue, scope: Scope): JsonValue {
  switch (compiled.kind) {
    case 'literal':
      return compiled.value;
    case 'reference':
      return requireValue(compiled.reference, scope);
    case 'default': {
      const value = findValue(compiled.reference, scope);
      return value === undefined ? compiled.otherwise : value;
    }
    case 'list':
      return compiled.items.map((item) => evaluate(item, scope));
    case 'object':
      return Object.fromEntries(compiled.members.map(([name, member]) => [name, evaluate(member, scope)]));
  }
}
