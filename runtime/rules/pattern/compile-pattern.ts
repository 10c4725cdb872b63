import { openPattern } from './engine.ts';
import type { Span } from './span.ts';

/** A pattern as a policy writes it. */
export type PatternSource = { readonly pattern: string; readonly caseSensitive: boolean };

/** Why a pattern is refused, in words that its author can act on. */
export type PatternFault = { readonly reason: string };

/** A compiled pattern. Both calls throw EngineError when the engine cannot answer; they never say "no match" then. */
export type CompiledPattern = {
  /** Whether the pattern matches anywhere in the text. */
  test(bytes: Buffer): boolean;
  /**
   * The engine's own leftmost matches from left to right, never overlapping, zero-width ones included, at most `limit`.
   */
  matches(bytes: Buffer, limit: number): Span[];
};

/** Compiles one pattern, or says why it is refused. */
export function compilePattern(source: PatternSource): CompiledPattern | PatternFault {
  const opened = openPattern(source.pattern, source.caseSensitive);
  if ('refused' in opened) return { reason: opened.refused };
  return {
    test: (bytes) => opened.find(bytes, 0) !== undefined,
    matches(bytes, limit) {
      const spans: Span[] = [];
      for (let from = 0; from <= bytes.length && spans.length < limit; ) {
        const found = opened.find(bytes, from);
        if (found === undefined) break;
        spans.push(found);
        from = found.end > from ? found.end : nextCharacter(bytes, from);
      }
      return spans;
    },
  };
}

/** The offset of the character after the one at `from`; past the end when there is none. */
function nextCharacter(bytes: Buffer, from: number): number {
  let next = from + 1;
  while (next < bytes.length && ((bytes[next] ?? 0) & 0xc0) === 0x80) next += 1;
  return next;
}
