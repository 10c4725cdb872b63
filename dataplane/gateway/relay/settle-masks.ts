import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { splice } from '#kit/json/splice';
import type { BodyRange, CheckUnit } from '../chat/check-unit.ts';
import { stringOf } from '../judged/escaped-texts.ts';
import { type ClientError, plainError } from './client-error.ts';

type Stop = { readonly kind: 'stop'; readonly error: ClientError };
/** A text after a check of it. */
export type JudgedText = { readonly kind: 'judged'; readonly content: string } | Stop;

type MasksInside = {
  readonly text: Buffer;
  readonly edits: (BodyRange & { readonly replacement: Buffer })[];
  readonly units: CheckUnit[];
};

/**
 * Puts the masks of strings inside of JSON texts into these texts, the innermost first. If the written form of such a
 * text was masked, too, only the masks of its strings are kept, because a mask of the written form can cover half of an
 * escape. The result is judged once more, and this judgement can add masks as long as the text stays JSON.
 * @param units texts, and the units that `escapedTexts` and `collectNested` found in them, in any order
 * @param contents the units after masking
 * @param judge judges a text of a unit
 * @returns the contents, or the first deny or failure
 */
export async function settleMasks(
  units: readonly CheckUnit[],
  contents: readonly string[],
  judge: (unit: CheckUnit, content: string) => Promise<JudgedText>,
): Promise<{ readonly kind: 'settled'; readonly contents: readonly string[] } | Stop> {
  const cleaned = new Map(units.map((unit, index) => [unit, contents[index] ?? '']));
  const written = new Map(units.map((unit) => [stringOf(unit.place)?.start, unit]));
  const inside = new Map<CheckUnit, MasksInside>();
  for (const unit of units.toSorted((one, other) => depthOf(other) - depthOf(one))) {
    const masks = inside.get(unit);
    if (masks !== undefined) {
      const content = Buffer.from(splice(masks.text, masks.edits)).toString('utf8');
      const isMasked = cleaned.get(unit) !== unit.content;
      const judged = isMasked ? await judge(unit, content) : { kind: 'judged' as const, content };
      if (judged.kind === 'stop') return judged;
      if (judged.content !== content && jsonOrUndefined(judged.content) === undefined) {
        return { kind: 'stop', error: plainError('policy_denied') };
      }
      cleaned.set(unit, judged.content);
      for (const inner of masks.units) cleaned.set(inner, inner.content);
    }
    const { place } = unit;
    const replacement = cleaned.get(unit) ?? '';
    if (replacement === unit.content || (place.kind !== 'nested' && place.kind !== 'within')) continue;
    const around = place.kind === 'within' ? place.of : written.get(place.outer.start);
    if (around === undefined) continue;
    const held = inside.get(around) ?? { text: place.text, edits: [], units: [] };
    held.edits.push({ ...place.string, replacement: Buffer.from(JSON.stringify(replacement)) });
    held.units.push(unit);
    inside.set(around, held);
  }
  return { kind: 'settled', contents: units.map((unit) => cleaned.get(unit) ?? '') };
}

/** The number of JSON texts that enclose a text. */
function depthOf({ place }: CheckUnit): number {
  if (place.kind === 'within') return 1 + depthOf(place.of);
  return place.kind === 'nested' ? 1 : 0;
}
