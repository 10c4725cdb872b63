import { unicodeClass } from './classes.ts';
import { MAX_RUNE } from './rune-set.ts';

const TOKEN_CLASSES = ['L', 'N', 'M'] as const;
let table: Uint8Array | undefined;

/**
 * For each code point: 1 if it is a token character (a letter, a number, a combining mark or the underscore), else 0.
 * The categories are those of the engine's tables, not those of the running Node.
 */
export function tokenCharacters(): Uint8Array {
  if (table !== undefined) return table;
  const marks = new Uint8Array(MAX_RUNE + 1);
  for (const name of TOKEN_CLASSES) {
    const set = unicodeClass(name) ?? [];
    for (let at = 0; at < set.length; at += 2) marks.fill(1, set[at], (set[at + 1] ?? 0) + 1);
  }
  marks[0x5f] = 1;
  table = marks;
  return marks;
}
