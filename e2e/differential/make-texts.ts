import type { Random } from '../streaming/random.ts';
import { anyCharacter, noise, otherCase } from './characters.ts';
import type { Piece } from './syntax-rows.ts';

/** Maximum text length in UTF-16 units. */
const longest = 2_500;

/** Texts from the syntax tree of a pattern: unchanged, surrounded by other text, repeated, and changed. */
export function makeTexts(piece: Piece, count: number, random: Random): readonly string[] {
  return Array.from({ length: count }, () => makeText(piece, random).slice(0, longest).toWellFormed());
}

function makeText(piece: Piece, random: Random): string {
  const dice = random.below(100);
  if (dice < 20) return piece.sample(random);
  if (dice < 45) return noise(random, 6) + piece.sample(random) + noise(random, 6);
  if (dice < 60) return Array.from({ length: 3 }, () => piece.sample(random) + noise(random, 2)).join('');
  if (dice < 75) return changed(noise(random, 3) + piece.sample(random) + noise(random, 3), random);
  if (dice < 88) return inOtherCases(noise(random, 2) + piece.sample(random) + noise(random, 2), random);
  return dice < 98 ? noise(random, 16) : '';
}

function changed(text: string, random: Random): string {
  const parts = [...text];
  for (let change = random.between(1, 3); change > 0; change -= 1) {
    parts.splice(random.below(parts.length + 1), random.below(2), ...(random.chance(70) ? [anyCharacter(random)] : []));
  }
  return parts.join('');
}

function inOtherCases(text: string, random: Random): string {
  return [...text].map((one) => (random.chance(50) ? otherCase(one, random) : one)).join('');
}
