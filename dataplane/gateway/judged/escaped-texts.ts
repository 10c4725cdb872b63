import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { splice } from '#kit/json/splice';
import type { BodyRange, CheckUnit, TextPlace } from '../chat/check-unit.ts';
import { collectNested, mayHideTexts } from './collect-texts.ts';

const toolRoles: ReadonlySet<string> = new Set(['tool', 'function']);

/**
 * The strings and keys of the results of tools that are a JSON object or list with escapes. The result as it is written is judged,
 * too, and holds the numbers.
 */
export function escapedResults(units: readonly CheckUnit[]): readonly CheckUnit[] {
  return units.flatMap((unit) => (toolRoles.has(unit.role) ? escapedTexts(unit) : []));
}

/**
 * The same for any text. An escape hides a word, and the letter of `\n` hides the beginning of one. None for a text without escapes,
 * of which each string is judged with the text.
 */
export function escapedTexts({ role, content, place }: CheckUnit): readonly CheckUnit[] {
  const outer = stringOf(place);
  if (outer === undefined || !mayHideTexts(content)) return [];
  const value = jsonOrUndefined(content);
  if (typeof value !== 'object' || value === null) return [];
  const options = { role, numbers: false, onlyEscapedKeys: true };
  const units = collectNested({ kind: 'string', value: content, ...outer }, options);
  return units.filter((unit) => unit.place.kind !== 'string');
}

/** The one string that holds a text. */
function stringOf(place: TextPlace): BodyRange | undefined {
  const isOne = place.kind === 'string' || (place.kind === 'parts' && place.others.length === 0);
  return isOne ? place.string : undefined;
}

/** Contents of units after masking; `again`: texts that have to pass one more check, because a mask of them was left out. */
type SettledMasks = { readonly contents: readonly string[]; readonly again: readonly CheckUnit[] };

/**
 * Joins the masks of a text with those of the strings inside of it. The masks of the strings are kept, because the text stays JSON
 * with them; a mask of the text as it was written can cover half of an escape.
 * @param units texts and the units that `escapedTexts` found in them, in any order
 */
export function settleMasks(units: readonly CheckUnit[], contents: readonly string[]): SettledMasks {
  const inner = new Map<number, { readonly text: Buffer; readonly edits: (BodyRange & { replacement: Buffer })[] }>();
  for (const [index, { content, place }] of units.entries()) {
    const cleaned = contents[index];
    if (place.kind !== 'nested' || cleaned === undefined || cleaned === content) continue;
    const held = inner.get(place.outer.start) ?? { text: place.text, edits: [] };
    held.edits.push({ ...place.string, replacement: Buffer.from(JSON.stringify(cleaned)) });
    inner.set(place.outer.start, held);
  }
  const written = new Set<number>();
  const again: CheckUnit[] = [];
  const settled = units.map((unit, index) => {
    const cleaned = contents[index] ?? '';
    const start = stringOf(unit.place)?.start;
    const masks = start === undefined ? undefined : inner.get(start);
    if (start === undefined || masks === undefined) return cleaned;
    const content = Buffer.from(splice(masks.text, masks.edits)).toString('utf8');
    written.add(start);
    if (cleaned !== unit.content) again.push({ ...unit, content });
    return content;
  });
  return {
    contents: settled.map((cleaned, index) => {
      const unit = units[index];
      return unit?.place.kind === 'nested' && written.has(unit.place.outer.start) ? unit.content : cleaned;
    }),
    again,
  };
}
