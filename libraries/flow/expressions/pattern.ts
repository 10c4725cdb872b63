import { RE2JS } from 're2js';
import { flowLimits } from '#contracts/flow-limits';

/** A pattern that is matched in time linear in the text. */
export type Pattern = { test(text: string): boolean };

/**
 * Compiles an RE2 pattern; returns a sentence if the pattern is invalid or too large. The pattern matches no text above
 * the limit of length.
 */
export function compileFlowPattern(source: string): Pattern | string {
  if (source.length > flowLimits.patternLength) return `has more than ${flowLimits.patternLength} characters`;
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(source);
  } catch {
    return 'is not a pattern of RE2';
  }
  if (pattern.programSize() > flowLimits.patternSize) {
    return `is too large a pattern: it has more than ${flowLimits.patternSize} instructions`;
  }
  return {
    test: (text) => Buffer.byteLength(text) <= flowLimits.patternTextBytes && pattern.test(text),
  };
}
