import { type Edit, splice } from '#kit/json/splice';
import type { BodyRange, CheckUnit } from './check-unit.ts';

const nothing = new Uint8Array(0);

/** The edit of the request body that replaces the alias by the provider's name of the model. */
export function renameModel(model: BodyRange, upstreamModel: string): Edit {
  return { ...model, replacement: jsonString(upstreamModel) };
}

/**
 * The edits that write masked texts into a body, without overlaps. `unmaskable`: a mask covers a name or a number,
 * which cannot be replaced without changing the meaning, or one text of the body has two different masks. `mismatch`: a
 * mask adds text to a message that had none.
 */
type MaskedBody =
  | { readonly kind: 'edits'; readonly edits: readonly Edit[] }
  | { readonly kind: 'unmaskable' }
  | { readonly kind: 'mismatch' };

/**
 * Finds the edits that write masked texts into a body (`gateway:mask:text-parts-merged`). Unchanged texts keep their
 * bytes. The text parts of one message become one part at the place of the first; the parts between them stay, in their
 * order. A mask inside of a removed part needs no edit. Texts inside of a JSON text are replaced there, so that the
 * text stays JSON. Masks of texts `within` another text must already be applied to that text.
 * @param units all texts of the body that were judged; each message is followed by its seams
 */
export function maskEdits(units: readonly CheckUnit[], contents: readonly string[]): MaskedBody {
  const edits: Edit[] = [];
  const nested = new Map<number, NestedEdits>();
  const maskedStarts = new Set<number>();
  const joints = new Joints(units, contents);
  for (const [index, { content, place }] of units.entries()) {
    const cleaned = contents[index];
    if (cleaned === undefined) return { kind: 'mismatch' };
    if (cleaned === content) continue;
    switch (place.kind) {
      case 'absent':
        return { kind: 'mismatch' };
      case 'within':
      case 'fixed':
        return { kind: 'unmaskable' };
      case 'seam': {
        if (!maskedStarts.has(place.message.start)) return { kind: 'unmaskable' };
        break;
      }
      case 'joint':
        if (!joints.hasNext(place.parts, cleaned)) return { kind: 'unmaskable' };
        break;
      case 'nested': {
        const { outer, text, string } = place;
        const held = nested.get(outer.start) ?? { outer, text, edits: [] };
        held.edits.push({ ...string, replacement: jsonString(cleaned) });
        nested.set(outer.start, held);
        break;
      }
      case 'string':
      case 'parts':
        edits.push({ ...place.string, replacement: jsonString(cleaned) });
        maskedStarts.add(place.string.start);
        if (place.kind === 'parts') for (const span of place.others) edits.push({ ...span, replacement: nothing });
        break;
    }
  }
  for (const { outer, text, edits: inner } of nested.values()) {
    edits.push({ ...outer, replacement: jsonString(Buffer.from(splice(text, inner)).toString('utf8')) });
  }
  const apart = withoutOverlaps(edits);
  return apart === undefined ? { kind: 'unmaskable' } : { kind: 'edits', edits: apart };
}

/**
 * The edits without those inside of a removed span and without duplicates.
 * @returns undefined when two of the remaining edits overlap
 */
function withoutOverlaps(edits: readonly Edit[]): readonly Edit[] | undefined {
  const kept: Edit[] = [];
  for (const edit of edits.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = kept.at(-1);
    if (last === undefined || edit.start >= last.end) kept.push(edit);
    else if (last.replacement === nothing && edit.end <= last.end) continue;
    else if (edit.end !== last.end || edit.start !== last.start || !isSame(edit, last)) return undefined;
  }
  return kept;
}

function isSame({ replacement }: Edit, other: Edit): boolean {
  return Buffer.compare(replacement, other.replacement) === 0;
}

/**
 * Finds the mask of a joint in the masked texts that the joint connects. One body can have tens of thousands of both.
 */
class Joints {
  readonly #units: readonly CheckUnit[];
  readonly #contents: readonly string[];
  #indexes: ReadonlyMap<CheckUnit, number> | undefined;
  readonly #joined = new Map<readonly CheckUnit[], { readonly text: string; from: number }>();

  constructor(units: readonly CheckUnit[], contents: readonly string[]) {
    this.#units = units;
    this.#contents = contents;
  }

  /**
   * Whether the texts `parts` contain the masked joint after the joint of the previous call; the joints of a body have
   * the order of its texts.
   */
  hasNext(parts: readonly CheckUnit[], masked: string): boolean {
    const joined = this.#joined.get(parts) ?? { text: this.#join(parts), from: 0 };
    this.#joined.set(parts, joined);
    joined.from = joined.text.indexOf(masked, joined.from);
    return joined.from !== -1;
  }

  #join(parts: readonly CheckUnit[]): string {
    this.#indexes ??= new Map(this.#units.map((unit, index) => [unit, index]));
    const indexes = this.#indexes;
    return parts.map((part) => this.#contents[indexes.get(part) ?? -1] ?? part.content).join('');
  }
}

type NestedEdits = { readonly outer: BodyRange; readonly text: Buffer; readonly edits: Edit[] };

/** Applies edits to a body; all bytes outside the edits stay the same. */
export function rewriteBody(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  return splice(body, edits);
}

function jsonString(text: string): Uint8Array {
  return Buffer.from(JSON.stringify(text), 'utf8');
}
