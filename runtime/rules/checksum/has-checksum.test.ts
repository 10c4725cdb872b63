import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Checksum, checksums } from '#contracts/checksums';
import { hasChecksum } from './has-checksum.ts';

/** Published examples of the standards and authorities; none belongs to a person. */
const examples: Readonly<Record<Checksum, readonly string[]>> = {
  luhn: ['4111 1111 1111 1111', '5555-5555-5555-4444', '378282246310005', '6011111111111117', '2200000000000004'],
  iban: ['GB82 WEST 1234 5698 7654 32', 'DE89370400440532013000', 'fr14 2004 1010 0505 0001 3m02 606'],
  inn: ['7707083893', '7830002293', '500100732259'],
  snils: ['112-233-445 95', '087-654-303 00'],
  mrz: ['L898902C36UTO7408122F1204159ZE184226B<<<<<10', 'L898902C36', '7408122'],
};

test.each(checksums)('published numbers have the checksum %s', (kind) => {
  for (const example of examples[kind]) expect([example, hasChecksum(kind, example)]).toEqual([example, true]);
});

/** A check number 00 of SNILS stands for the sums 0 and 100, so one changed digit can keep it. */
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
  ['iban', 'XX82WEST12345698765432'],
  ['inn', '770708389'],
  ['snils', '001-001-998 00'],
  ['mrz', 'L898902C'],
  ['mrz', 'L898902C36UTO7408122F1204159ZE184226B<<<<<11'],
  ['mrz', 'L8989ö2C36'],
])('the checksum %s refuses %s', (kind, text) => {
  expect(hasChecksum(kind, text)).toBe(false);
});
