import type { PatternFault, PatternSource } from './compile-pattern.ts';
import { openSet } from './engine.ts';

/** Several patterns judged by one pass over the text. */
export type CompiledGroup = {
  /** Indexes into the group, ascending, of the patterns that match; throws EngineError, never answers "none" instead. */
  firing(bytes: Buffer): number[];
};

/** Compiles the patterns of one group (see group-patterns.ts), or says why the group is refused. */
export function compileGroup(patterns: readonly PatternSource[]): CompiledGroup | PatternFault {
  const sources = patterns.map(({ pattern, caseSensitive }) => (caseSensitive ? pattern : `(?i:${pattern})`));
  const opened = openSet(sources, true);
  if ('refused' in opened) return { reason: opened.refused };
  return { firing: (bytes) => opened.firing(bytes) };
}
