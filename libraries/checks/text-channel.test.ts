import { describe, expect, test } from 'vitest';
import { TextChannel } from './text-channel.ts';

/** The window after an early window over `text`. */
function behindEarly(text: string, more: string): string | undefined {
  const channel = new TextChannel();
  channel.append(text);
  const early = channel.earlyWindow();
  if (early === undefined) throw new Error('there is no early window');
  channel.pass(early);
  channel.append(more);
  channel.end();
  return channel.nextWindow()?.text;
}

describe('the overlap behind an early window', () => {
  const behind = `${' clean'.repeat(42)} x`;

  test('the overlap after an early window begins before a word that would be split at 256 bytes', () => {
    const window = behindEarly(`${'so '.repeat(14)}class${behind}`, ' and more');
    expect(window).toBe(`class${behind} and more`);
  });

  test('the overlap after an early window has 256 bytes if they begin between two words', () => {
    expect(behindEarly(`first ab${behind}`, '!')).toBe(`ab${behind}!`);
  });

  test('the overlap after an early window is up to 64 bytes longer, and has 256 bytes if a longer word is split', () => {
    const word = (bytes: number): string => `is ${'w'.repeat(bytes)}`;
    // There are 254 bytes after the word, so that two of its bytes are among the last 256.
    expect(behindEarly(word(66) + behind, '!')).toBe(`${'w'.repeat(66)}${behind}!`);
    expect(behindEarly(word(67) + behind, '!')).toBe(`ww${behind}!`);
  });

  test('the overlap after an early window never begins inside a character', () => {
    expect(behindEarly(`так ${'я'.repeat(30)}${behind}`, '!')).toBe(`${'я'.repeat(30)}${behind}!`);
    expect(behindEarly(`так ${'я'.repeat(40)}${behind}`, '!')).toBe(`я${behind}!`);
  });

  test('the overlap after an early window is the whole text if the text is shorter', () => {
    expect(behindEarly('a short text', '!')).toBe('a short text!');
  });
});
