import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import type { BodyRange, CheckUnit, TextPlace } from '../chat/check-unit.ts';
import { collectNested, mayHideTexts, newBudget } from './collect-texts.ts';

const toolRoles: ReadonlySet<string> = new Set(['tool', 'function']);

/**
 * The strings and keys with escapes of the results of tools that are a JSON object, list or string. The result is also
 * judged as written, with the other texts and the numbers.
 */
export function escapedResults(units: readonly CheckUnit[]): readonly CheckUnit[] {
  const budget = newBudget();
  return units.flatMap((unit) => (toolRoles.has(unit.role) ? escapedTexts(unit, budget) : []));
}

/**
 * The strings and keys with escapes of any text. An escape hides a word, and the letter of `\n` hides the beginning of
 * a word.
 */
export function escapedTexts({ role, content, place }: CheckUnit, budget = newBudget()): readonly CheckUnit[] {
  const outer = stringOf(place);
  if (outer === undefined || !mayHideTexts(content)) return [];
  if (jsonOrUndefined(content) === undefined) return [];
  const options = { role, numbers: false, onlyEscaped: true };
  const units = collectNested({ kind: 'string', value: content, ...outer }, options, budget);
  return units.filter((unit) => unit.place.kind !== 'string');
}

/** The only string that contains a text. */
export function stringOf(place: TextPlace): BodyRange | undefined {
  const isOne = place.kind === 'string' || (place.kind === 'parts' && place.others.length === 0);
  return isOne ? place.string : undefined;
}
