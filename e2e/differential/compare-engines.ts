import { compilePattern } from '../../runtime/rules/pattern/search/compile-pattern.ts';
import type { MatchRequest, MatchResult } from './reference.ts';

/** A pattern, or a pattern and a text, for which the two engines give different results. */
export type Difference = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** The text; absent if one engine accepts the pattern and the other refuses it. */
  readonly text?: string;
  readonly here: string;
  readonly reference: string;
};

/**
 * Calls the engine port of the runtime, before cost admission and mask rules refuse anything, and compares with the
 * reference: accepted or refused, match or no match, and the spans of all matches in bytes.
 */
export function compareEngines(question: MatchRequest, verdict: MatchResult): readonly Difference[] {
  const { pattern, caseSensitive, texts } = question;
  const compiled = compilePattern({ pattern, caseSensitive });
  const accepted = !('reason' in compiled);
  if (accepted !== verdict.accepted) {
    const say = (yes: boolean): string => (yes ? 'accepts it' : 'refuses it');
    return [{ pattern, caseSensitive, here: say(accepted), reference: say(verdict.accepted) }];
  }
  if (!accepted) return [];
  return texts.flatMap((text, index) => {
    const bytes = Buffer.from(text);
    const found = compiled.matches(bytes, Number.POSITIVE_INFINITY).flatMap(({ start, end }) => [start, end]);
    const expected = verdict.spans[index] ?? [];
    const here = found.join(' ');
    const reference = expected.join(' ');
    if (here !== reference) return [{ pattern, caseSensitive, text, here, reference }];
    if (compiled.test(bytes) === expected.length > 0) return [];
    return [{ pattern, caseSensitive, text, here: `${here}, but the set has the opposite result`, reference }];
  });
}
