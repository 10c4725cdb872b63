import type { Replacement } from './merge-masks.ts';

/**
 * The text with its replacements in place; `bytes` is its UTF-8, of which the offsets are. They are sorted, do not
 * overlap and lie on character boundaries, as `mergeMasks` and the engine give them. A replacement stands literally:
 * nothing in it is expanded or matched again.
 */
export function applyMasks(text: string, bytes: Buffer, replacements: readonly Replacement[]): string {
  const isAscii = text.length === bytes.length;
  const part = (start: number, end: number): string =>
    isAscii ? text.slice(start, end) : bytes.toString('utf8', start, end);
  let masked = '';
  let position = 0;
  for (const replacement of replacements) {
    masked += part(position, replacement.start) + replacement.text;
    position = replacement.end;
  }
  return masked + part(position, bytes.length);
}
