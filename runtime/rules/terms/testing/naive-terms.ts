import type { ByteRange } from '../../checked-text.ts';
import { foldOrbit } from '../../unicode/case-fold.ts';
import { unicodeClass } from '../../unicode/classes.ts';
import { contains } from '../../unicode/rune-set.ts';

/** A naive implementation of compileLiterals and compileTokens: it tries every term at every position. */
export function findNaively(
  terms: readonly string[],
  text: string,
  { caseSensitive, wholeTokens }: { readonly caseSensitive: boolean; readonly wholeTokens: boolean },
): ByteRange[] {
  const characters = Array.from(text);
  const lists = terms.map((term) => Array.from(term));
  const spans: ByteRange[] = [];
  for (let at = 0; at < characters.length; ) {
    let longest = 0;
    for (const term of lists) {
      const matches = term.every((character, index) => same(character, characters[at + index], caseSensitive));
      const free = !wholeTokens || (!isToken(characters[at - 1]) && !isToken(characters[at + term.length]));
      if (matches && free) longest = Math.max(longest, term.length);
    }
    const start = Buffer.byteLength(characters.slice(0, at).join(''));
    if (longest > 0) spans.push({ start, end: start + Buffer.byteLength(characters.slice(at, at + longest).join('')) });
    at += Math.max(1, longest);
  }
  return spans;
}

function same(a: string, b: string | undefined, caseSensitive: boolean): boolean {
  if (a === b || b === undefined || caseSensitive) return a === b;
  return foldOrbit(a.codePointAt(0) ?? 0).includes(b.codePointAt(0) ?? 0);
}

function isToken(character: string | undefined): boolean {
  const rune = character?.codePointAt(0);
  if (rune === undefined) return false;
  return rune === 0x5f || ['L', 'N', 'M'].some((name) => contains(unicodeClass(name) ?? [], rune));
}
