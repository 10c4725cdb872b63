import type { Automaton } from '../../runtime/rules/pattern/cost/determinize.ts';
import { longWalk, seeded } from '../../runtime/rules/pattern/testing/long-walk.ts';

/** Every printable ASCII character and one character for each UTF-8 lead byte, as single texts. */
const everyByte = `${[
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)),
  ...Array.from({ length: 30 }, (_, index) => String.fromCodePoint((index + 2) * 0x40)),
  ...Array.from({ length: 16 }, (_, index) => String.fromCodePoint(Math.max(0x800, index * 0x1000) + 0x55)),
  ...Array.from({ length: 5 }, (_, index) => String.fromCodePoint(Math.max(0x10000, index * 0x40000))),
]
  .filter((character) => !/[\ud800-\udfff]/u.test(character))
  .join(' ')} `;

/** The body of a request with one message. */
export function bodyOf(text: string): string {
  return JSON.stringify({ body: { messages: [{ role: 'user', content: text }] } });
}

/** The longest prefix of a text whose body has at most this many bytes. */
function fitting(text: string, maxBodyBytes: number): string {
  const size = (characters: readonly string[]): number => Buffer.byteLength(bodyOf(characters.join('')));
  let characters = Array.from(text);
  for (let over = size(characters) - maxBodyBytes; over > 0; over = size(characters) - maxBodyBytes) {
    characters = characters.slice(0, characters.length - Math.max(1, Math.floor(over / 6)));
  }
  return characters.join('');
}

/** A text that no pattern can skip, as a whole or in part: it contains every byte at its start and at its end. */
export function lookedThrough(text: string, maxBodyBytes: number): string {
  const own = Buffer.byteLength(bodyOf(everyByte)) - Buffer.byteLength(bodyOf(''));
  return fitting(everyByte + text, maxBodyBytes - own) + everyByte;
}

export function repeated(unit: string, maxBodyBytes: number): string {
  return lookedThrough(unit.repeat(Math.ceil(maxBodyBytes / Buffer.byteLength(unit))), maxBodyBytes);
}

/** Parts in a random order that the seed determines. */
export function shuffled(parts: readonly string[], seed: number, maxBodyBytes: number): string {
  const random = seeded(seed);
  const chosen: string[] = [];
  for (let size = 0; size < maxBodyBytes; size += Buffer.byteLength(chosen.at(-1) ?? 'x')) {
    chosen.push(parts[Math.floor(random() * parts.length)] ?? '');
  }
  return fitting(chosen.join(''), maxBodyBytes);
}

/** Texts that use as many transitions of the automaton as long random walks reach, with walks of several lengths. */
export function walks(automaton: Automaton, restarts: readonly number[], maxBodyBytes: number): readonly string[] {
  const random = seeded(11);
  return restarts.map((restart) =>
    lookedThrough(longWalk(automaton, maxBodyBytes, restart, random).toString(), maxBodyBytes),
  );
}
