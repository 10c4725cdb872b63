import { isAscii } from 'node:buffer';
import { foldOrbit } from '../unicode/case-fold.ts';
import { characterAt } from '../unicode/utf8.ts';

/**
 * A text of ASCII that equals a text of valid UTF-8 if case is ignored; undefined if there is none. `ſ` and the Kelvin
 * sign are the only other characters that equal an ASCII character.
 */
export function asciiEqual(text: Uint8Array): Uint8Array | undefined {
  if (isAscii(text)) return text;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; ) {
    const character = characterAt(text, at);
    const equal = foldOrbit(character >>> 3).find((rune) => rune < 0x80);
    if (equal === undefined) return undefined;
    bytes.push(equal);
    at += character & 7;
  }
  return Uint8Array.from(bytes);
}
