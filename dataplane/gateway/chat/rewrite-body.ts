import { type Edit, splice } from '#kit/json/splice';
import type { BodyRange, CheckUnit } from './check-unit.ts';

const nothing = new Uint8Array(0);

/** The edit of the request body that replaces the alias by the provider's name of the model. */
export function renameModel(model: BodyRange, upstreamModel: string): Edit {
  return { ...model, replacement: jsonString(upstreamModel) };
}

/**
 * The edits that put cleaned texts into a body (`gateway:mask:text-parts-merged`). Unchanged texts keep their bytes. The
 * text parts of one message become one part at the place of the first; the parts between them stay, in their order.
 * @returns undefined when a mask gives text to a message that had none
 */
export function maskEdits(units: readonly CheckUnit[], contents: readonly string[]): readonly Edit[] | undefined {
  const edits: Edit[] = [];
  for (const [index, unit] of units.entries()) {
    const cleaned = contents[index];
    if (cleaned === undefined) return undefined;
    if (cleaned === unit.content) continue;
    if (unit.place.kind === 'absent') return undefined;
    edits.push({ ...unit.place.string, replacement: jsonString(cleaned) });
    if (unit.place.kind === 'parts')
      edits.push(...unit.place.others.map((span) => ({ ...span, replacement: nothing })));
  }
  return edits;
}

/** Applies edits to a body; all bytes outside the edits stay the same. */
export function rewriteBody(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  return splice(body, edits);
}

function jsonString(text: string): Uint8Array {
  return Buffer.from(JSON.stringify(text), 'utf8');
}
