import type { Random } from '../streaming/random.ts';
import { anyCharacter } from './characters.ts';
import { oddForms } from './odd-forms.ts';
import { nestingRows, type Piece, plainRows, type SyntaxRow } from './syntax-rows.ts';

/** A pattern with the names of the syntax rows that it uses. */
export type MadePattern = Piece & { readonly rows: readonly string[] };

const odd = Object.entries(oddForms).flatMap(([kind, sources]) => sources.map((source) => ({ kind, source })));
/** Forms that can be combined with others; the large forms take half a second each. */
const small = odd.filter(({ source }) => source.length < 100 && !/\{\d{3}/.test(source));

/** All syntax rows of the generator, and all kinds of odd forms. */
export const rowNames: readonly string[] = [...plainRows, ...nestingRows].map(({ name }) => name);
export const oddKinds: readonly string[] = Object.keys(oddForms);

/** Every odd form and every syntax row alone. */
export function eachAlone(random: Random): readonly MadePattern[] {
  const letter: Piece = { source: 'я', sample: () => 'я' };
  return [
    ...odd.map(({ kind, source }) => ({ source, sample: () => source, rows: [kind] })),
    ...[...plainRows, ...nestingRows].map((row) => ({ ...row.make(random, () => letter), rows: [row.name] })),
  ];
}

function weighted(rows: readonly SyntaxRow[]): readonly SyntaxRow[] {
  return rows.flatMap((row) => Array.from({ length: row.weight }, () => row));
}
const plain = weighted(plainRows);
const nesting = weighted(nestingRows);

const deepest = 4;

/** A pattern from the syntax rows; one of ten has an odd form, and one of twenty has random changes. */
export function makePattern(random: Random): MadePattern {
  const rows: string[] = [];
  function make(depth: number): Piece {
    const nests = depth < deepest && random.chance(depth === 0 ? 85 : 40);
    const row = random.pick(nests ? nesting : plain);
    rows.push(row.name);
    return row.make(random, () => make(depth + 1));
  }
  const piece = make(0);
  const kind = random.below(20);
  if (kind === 0) return { source: garbled(piece.source, random), sample: piece.sample, rows: ['garbled'] };
  if (kind > 2) return { ...piece, rows };
  const form = random.pick(small);
  const before = random.chance(50);
  const sample = (to: Random): string => (before ? form.source + piece.sample(to) : piece.sample(to) + form.source);
  return { source: before ? form.source + piece.source : piece.source + form.source, sample, rows: [form.kind] };
}

const signs = [...'()[]{}?*+|\\^$-,:<>P=!pQExiU019'];

function garbled(source: string, random: Random): string {
  const parts = [...source];
  for (let change = random.between(1, 2); change > 0; change -= 1) {
    const at = random.below(parts.length + 1);
    const inserted = random.chance(80) ? random.pick(signs) : anyCharacter(random);
    parts.splice(at, random.below(2), ...(random.chance(60) ? [inserted] : []));
  }
  return parts.join('');
}
