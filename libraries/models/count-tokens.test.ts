import { expect, test } from 'vitest';
import { Turns } from '#kit/concurrency/turns';
import { countTokens, countTokensInTurns } from './count-tokens.ts';

test('tokens are those of o200k_base, even for texts that look like control tokens', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('Hello, world!')).toBe(4);
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
});

test('a megabyte without a space is counted', () => {
  expect(countTokens('a'.repeat(1_000_000))).toBeGreaterThan(10_000);
  expect(countTokens(' '.repeat(1_000_000))).toBeGreaterThan(0);
});

test('a run of 256 characters is encoded at once and a longer one is split, whatever white space surrounds it', () => {
  const spaces = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)).filter((one) =>
    /\s/.test(one),
  );
  expect(spaces.length).toBeGreaterThan(20);
  const letters = 'abcdefghij'.repeat(30);
  for (const space of ['', ...spaces]) {
    const cut = countTokens(space + letters.slice(0, 256)) + countTokens(letters.slice(256, 299));
    expect(countTokens(space + letters.slice(0, 299))).toBe(cut);
  }
});

test('a text counted in slices has the same number of tokens; a count stops above its limit', async () => {
  const turns = new Turns();
  const mixed = 'Отпуск оплачивается. Holidays are paid; see § 4.2.\n\n| a | 1234567 | 🎄 <|endoftext|> '.repeat(300);
  for (const text of ['', 'word', mixed, 'ж'.repeat(70_000), ' '.repeat(70_000), mixed + 'x'.repeat(3_000) + mixed]) {
    expect(await countTokensInTurns(text, turns)).toBe(countTokens(text));
    const tokens = countTokens(text);
    expect(await countTokensInTurns(text, turns, tokens)).toBe(tokens);
    if (tokens > 0) expect(await countTokensInTurns(text, turns, tokens - 1)).toBeGreaterThan(tokens - 1);
  }
});

test('a megabyte is counted in slices while other work of the event loop continues', async () => {
  const turns = new Turns();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  const started = performance.now();
  await countTokensInTurns('a'.repeat(1_000_000), turns);
  clearInterval(timer);
  // A slice is 2 ms long; a busy machine makes fewer of them.
  if (performance.now() - started > 50) expect(ticks).toBeGreaterThan(3);
});
