import type { Replacement } from './merge-masks.ts';

/**
 * The text with its replacements in place. They are sorted, do not overlap and lie on character boundaries, as
 * `mergeMasks` and the engine give them. A replacement stands literally: nothing in it is expanded or matched again.
 */
export function applyMasks(text: Buffer, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const replacement of replacements) {
    parts.push(text.toString('utf8', position, replacement.start), replacement.text);
    position = replacement.end;
  }
  parts.push(text.toString('utf8', position));
  return parts.join('');
}
