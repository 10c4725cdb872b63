import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import type { SourcePath } from '../source/problem.ts';
import type { CompileNotes } from './compile-notes.ts';
import { ExpressionFault } from './expression-fault.ts';
import { type FlowReference, parseReference, requireValue, type Scope } from './reference.ts';

/** A text with the places of its expressions. */
export type CompiledTemplate = readonly (string | FlowReference)[];

const place = /\\\{\{|\{\{([^{}]*)\}\}/g;

/** Compiles a text: `{{input.question}}` is an expression, `\{{` two braces. */
export function compileTemplate(text: string, at: SourcePath, notes: CompileNotes): CompiledTemplate {
  if (Buffer.byteLength(text) > flowLimits.templateBytes) {
    notes.problems.push({ code: 'template', at, message: `has more than ${flowLimits.templateBytes} bytes` });
    return [];
  }
  const parts: (string | FlowReference)[] = [];
  let end = 0;
  for (const match of text.matchAll(place)) {
    parts.push(plain(text.slice(end, match.index), at, notes));
    end = match.index + match[0].length;
    if (match[1] === undefined) {
      parts.push('{{');
      continue;
    }
    const reference = parseReference(match[1].trim());
    if (typeof reference === 'string') {
      notes.problems.push({ code: 'template', at, message: `has a place that ${reference}` });
      continue;
    }
    notes.references.push({ reference, at, tolerant: false });
    parts.push(reference);
  }
  parts.push(plain(text.slice(end), at, notes));
  return parts.filter((part) => part !== '');
}

function plain(text: string, at: SourcePath, notes: CompileNotes): string {
  if (text.includes('{{')) {
    notes.problems.push({ code: 'template', at, message: 'has {{ without }}: write \\{{ for the braces themselves' });
  }
  return text;
}

/**
 * The text with its expressions replaced by their values: a string is inserted unchanged, any other value as JSON.
 * @throws ExpressionFault path_missing, output_invalid
 */
export function renderTemplate(template: CompiledTemplate, scope: Scope): string {
  let left: number = flowLimits.outputBytes;
  return template
    .map((part) => {
      const text = typeof part === 'string' ? part : textOf(requireValue(part, scope));
      left -= Buffer.byteLength(text);
      if (left < 0) throw new ExpressionFault('output_invalid', `a text has more than ${flowLimits.outputBytes} bytes`);
      return text;
    })
    .join('');
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
