import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPattern } from '../search/engine.ts';
import { matchableText, patternText } from '../testing/pattern-arbitrary.ts';
import { decidingBytes } from './minimal-match.ts';
import { parsePattern } from './parse-pattern.ts';
import { shapeOf } from './pattern-shape.ts';
import type { PatternNode, PatternTree } from './pattern-tree.ts';
import { printPattern } from './print-pattern.ts';
import { trimEnds } from './trim-for-firing.ts';

const open = Number.POSITIVE_INFINITY;

function parsed(pattern: string, caseSensitive = true): PatternTree {
  const tree = parsePattern({ pattern, caseSensitive });
  if ('reason' in tree) throw new Error(tree.reason);
  return tree;
}

/** The bound without the byte that an assertion at its end reads. */
const minimalMatchBytes = (node: PatternNode): number => shapeOf(trimEnds(node)).maxBytes;

test.each([
  ['a{256}', 256, 256],
  ['a+', 1, 1],
  ['a*', 0, 0],
  ['sk-[a-z]{20,}', 23, 23],
  ['[a-z]{1,64}@', 2, 2],
  ['(?:.{1,100}){1,9}Z', 5, 5],
  ['a[^b]*b', open, open],
  ['a[^b]{0,60}b', 242, 242],
  ['a|b{300}c', 301, 301],
  ['a|b{300}', 300, 300],
  ['eyJ[A-Za-z0-9_-]+\\.eyJ[A-Za-z0-9_-]+\\.', open, open],
  ['\\b\\w+@', open, open],
  ['@\\w+\\b', open, open],
  ['\\w+@\\b', 2, 3],
  ['\\bcat\\b', 3, 4],
  ['\\bcat\\b.*', 3, 4],
  ['\\bcat\\bs?x{0,3}', 3, 4],
  ['(?:\\ba)+', 1, 1],
  ['(?:\\ba+\\b|b{2,5})c*', open, open],
  ['(?:\\ba{1,7}\\b|b{2,5})c*', 7, 8],
  ['\\p{Cyrillic}{2,}x', 9, 9],
])('a minimal match of %s has at most %d bytes and is decided within %d', (pattern, bytes, deciding) => {
  const { node } = parsed(pattern);
  expect([minimalMatchBytes(node), decidingBytes(node)]).toEqual([bytes, deciding]);
});

test('a fold counts at its longest form: k folds to the Kelvin sign of three bytes', () => {
  expect(minimalMatchBytes(parsed('k{100}', false).node)).toBe(300);
});

/** A text that the tree describes, with long repeats; assertions may still refuse it. The tape decides each choice. */
function textOf(node: PatternNode, tape: () => number): string {
  switch (node.kind) {
    case 'runes': {
      const pair = 2 * (tape() % (node.set.length / 2));
      const low = node.set[pair] ?? 0x61;
      const high = node.set[pair + 1] ?? low;
      return String.fromCodePoint(Math.min(high, low + (tape() % 3))).toWellFormed();
    }
    case 'concat':
      return node.items.map((item) => textOf(item, tape)).join('');
    case 'either':
      return textOf(node.items[tape() % node.items.length] ?? { kind: 'empty' }, tape);
    case 'repeat': {
      const count = Math.min(node.max, node.min + (tape() % 9), Math.max(node.min, 40));
      return Array.from({ length: count }, () => textOf(node.item, tape)).join('');
    }
    case 'any-byte':
      return 'a';
    default:
      return '';
  }
}

/**
 * Whether the text contains a match of at most `longest` bytes, found by testing each place at which a match can end.
 */
function holdsMatchWithin(tree: PatternTree, bytes: Buffer, longest: number): boolean {
  for (let end = 0; end <= bytes.length; end += 1) {
    const ending = openPattern(`(?:${printPattern(tree.node)})\\C{${bytes.length - end}}(?-m:$)`, true);
    if ('refused' in ending) throw new Error(ending.refused);
    for (let start = Math.max(0, end - longest); start <= end; start += 1) {
      if (ending.matchAt(bytes, start) >= 0) return true;
    }
  }
  return false;
}

const repeated = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', 'b', '[ab]', '(?:ab|c)', '(?:a+b)', '(?:b|\\b)', '.', 'я'),
      fc.constantFrom('', '+', '*', '?', '{2}', '{1,3}', '{2,}', '{0,2}?'),
      fc.constantFrom('', '', '', '\\b', '\\B', '|'),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.flat().join(''));

test('every text that a pattern matches contains a match within the bound', () => {
  let longer = 0;
  fc.assert(
    fc.property(
      fc.oneof(repeated, patternText),
      fc.array(fc.nat(), { minLength: 8, maxLength: 40 }),
      matchableText,
      matchableText,
      (pattern, choices, before, after) => {
        const tree = parsePattern({ pattern, caseSensitive: true });
        if ('reason' in tree) return;
        const engine = openPattern(tree.engineSource, true);
        if ('refused' in engine) return;
        let at = 0;
        const tape = (): number => choices[at++ % choices.length] ?? 0;
        const text = Buffer.from(before + textOf(tree.node, tape) + after);
        const found = text.length <= 120 ? engine.find(text, 0) : undefined;
        const bound = minimalMatchBytes(tree.node);
        if (found === undefined || found.end - found.start <= bound) return;
        longer += 1;
        expect(holdsMatchWithin(tree, text, bound)).toBe(true);
      },
    ),
    { numRuns: 3_000, seed: 1 },
  );
  // The property holds trivially when the first match is already within the bound.
  expect(longer).toBeGreaterThan(200);
});
