import { type CompiledPattern, compilePattern } from '../search/compile-pattern.ts';

/** Compiles a pattern that must be valid. */
export function prepare(pattern: string, caseSensitive = true): CompiledPattern {
  const compiled = compilePattern({ pattern, caseSensitive });
  if ('reason' in compiled) throw new Error(`${pattern}: ${compiled.reason}`);
  return compiled;
}
