import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Checksum, checksums } from '#contracts/checksums';
import { numberEnd } from './number-end.ts';

/** Published examples of the standards and authorities; none is the number of a person. */
const examples: Readonly<Record<Checksum, readonly string[]>> = {
  luhn: ['4111 1111 1111 1111', '5555-5555-5555-4444', '378282246310005', '6011111111111117', '2200000000000004'],
  iban: ['GB82 WEST 1234 5698 7654 32', 'DE89370400440532013000', 'fr14 2004 1010 0505 0001 3m02 606'],
  inn: ['7707083893', '7830002293', '500100732259'],
  snils: ['112-233-445 95', '087-654-303 00'],
  mrz: ['L898902C36UTO7408122F1204159ZE184226B<<<<<10', 'L898902C36', '7408122'],
};

/** Whether the whole text is a number with valid check digits. */
function hasChecksum(kind: Checksum, text: string): boolean {
  const bytes = Buffer.from(text);
  return numberEnd(kind, bytes, 0, [bytes.length]) === bytes.length;
}

test.each(checksums)('published numbers have the checksum %s', (kind) => {
  for (const example of examples[kind]) expect([example, hasChecksum(kind, example)]).toEqual([example, true]);
});

/**
 * The check number 00 of SNILS stands for the sums 0 and 100, so that a changed digit can have the same check number.
 */
const ambiguous = '087-654-303 00';

test.each(checksums)('a number with one changed digit does not have the checksum %s', (kind) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...examples[kind].filter((one) => one !== ambiguous)),
      fc.nat(),
      fc.integer({ min: 1, max: 9 }),
      (example, place, step) => {
        const digits = [...example.matchAll(/\d/g)].map(({ index }) => index);
        const at = digits[place % digits.length] ?? 0;
        const changed = example.slice(0, at) + String((Number(example[at]) + step) % 10) + example.slice(at + 1);
        fc.pre(changed !== example);
        expect([changed, hasChecksum(kind, changed)]).toEqual([changed, false]);
      },
    ),
  );
});

test.each<[Checksum, string]>([
  ['luhn', '0000000'],
  ['luhn', '4111 1111 1111 1112'],
  ['luhn', '4111x1111x1111x1111'],
  ['luhn', ''],
  ['luhn', '00000000000000000000'],
  ['iban', 'XX82WEST12345698765432'],
  ['iban', '8289370400440532013000'],
  ['iban', '<E89370400440532013000'],
  ['inn', '770708389'],
  ['inn', '770708389A'],
  ['snils', '001-001-998 00'],
  ['mrz', 'L898902C'],
  ['mrz', 'L898902C36UTO7408122F1204159ZE184226B<<<<<11'],
  ['mrz', 'L8989ö2C36'],
])('the checksum %s refuses %s', (kind, text) => {
  expect(hasChecksum(kind, text)).toBe(false);
});

test('a no-break space in a number is ignored like a blank, and one of its two bytes is not', () => {
  expect(hasChecksum('luhn', '4111\u00a01111 1111\u00a01111')).toBe(true);
  const half = Buffer.from('4111 1111 1111 1111\u00a0');
  expect(numberEnd('luhn', half, 0, [half.length - 1])).toBe(-1);
  expect(numberEnd('luhn', half, 0, [half.length])).toBe(half.length);
});

test('in a number, every blank and dash of Unicode is ignored, and half of such a character or another character is not ignored', () => {
  const bmp = Array.from({ length: 0xffff }, (_, code) => String.fromCharCode(code)).filter(
    (one) => one.isWellFormed() && !/[0-9A-Za-z]/.test(one),
  );
  const found = bmp.filter((one) => hasChecksum('luhn', `4111${one}1111${one}1111${one}1111`));
  const expected = bmp.filter((one) => /[\p{Zs}\p{Pd}\u2212\t\n\r./]/u.test(one));
  expect(found).toEqual(expected);
  const half = Buffer.from('4111 1111 1111 1111\u2011');
  for (const cut of [1, 2]) expect(numberEnd('luhn', half, 0, [half.length - cut])).toBe(-1);
  expect(numberEnd('luhn', half, 0, [half.length])).toBe(half.length);
  const cut = Buffer.concat([Buffer.from('4111 1111 1111 '), Buffer.from([0xe2, 0x80]), Buffer.from('1111')]);
  expect(numberEnd('luhn', cut, 0, [cut.length])).toBe(-1);
});

test.each<[string, Checksum, string, string]>([
  ['a card number before its verification code', 'luhn', '4111 1111 1111 1111', ' 123'],
  ['a card number before its expiry date', 'luhn', '5555 5555 5555 4444', ' 05/28'],
  ['a bank account before a word', 'iban', 'DE89 3704 0044 0532 0130 00', ' THE'],
  ['a taxpayer number before two digits', 'inn', '7707083893', ' 77'],
  ['an insurance number before a digit', 'snils', '112-233-445 95', ' 7'],
  ['a field of a passport before a character', 'mrz', 'L898902C36', '<'],
  ['a number before another character', 'luhn', '4111111111111111', 'я1'],
])('the end of %s is found before the text that follows', (_, kind, number, behind) => {
  const bytes = Buffer.from(number + behind);
  const ends = [...(number + behind).matchAll(/[\w<](?![\w<])/g)].map(({ index }) => index + 1);
  const own = number.length;
  expect(
    numberEnd(
      kind,
      bytes,
      0,
      [...new Set([...ends, own])].toSorted((one, other) => one - other),
    ),
  ).toBe(own);
  const others = ends.filter((end) => end !== own);
  expect(numberEnd(kind, bytes, 0, others)).toBe(-1);
});

test.each(checksums)('of several ends the last one with the checksum %s is found', (kind) => {
  const characters = fc.constantFrom(...'0123456789 -A<я', ...examples[kind]);
  const texts = fc.array(characters, { minLength: 1, maxLength: 30 }).map((all) => all.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      const ends = Array.from({ length: text.length }, (_, at) => Buffer.byteLength(text.slice(0, at + 1)));
      const valid = ends.filter((_, at) => hasChecksum(kind, text.slice(0, at + 1)));
      expect(numberEnd(kind, Buffer.from(text), 0, ends)).toBe(valid.at(-1) ?? -1);
    }),
  );
});
