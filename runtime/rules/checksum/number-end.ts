import type { Checksum } from '#contracts/checksums';

/**
 * The last of the given ends at which a number with valid check digits ends, or -1. Blanks, dashes, dots and slashes in
 * a number are ignored, and so is letter case; any other character that the number cannot have makes it invalid. All
 * ends are tested in one pass, so that many ends cost as much as one.
 * @param start the offset at which the number begins
 * @param ends offsets in ascending order, each after `start`
 */
export function numberEnd(kind: Checksum, bytes: Uint8Array, start: number, ends: readonly number[]): number {
  const length = readValues(bytes, start, ends);
  const longest = longestOf(kind, length);
  return longest === 0 ? -1 : endAfter(longest);
}

/** How many of the first `length` values form the longest number that ends at one of the ends; 0 if there is none. */
function longestOf(kind: Checksum, length: number): number {
  switch (kind) {
    case 'luhn':
      return longestLuhn(length);
    case 'iban':
      return longestIban(length);
    case 'inn':
      return longestInn(length);
    case 'snils':
      return isSnils(length) ? snilsLength : 0;
    case 'mrz':
      return longestMrz(length);
  }
}

const filler = 36;
/** The longest number that has a checksum is the line of a passport. */
const mostValues = 44;
/**
 * The values of the tested digits, with letters from 10 and `<` as 36; one buffer is used for all matches, because
 * matches are frequent.
 */
const values = new Uint8Array(mostValues);
/** For each n, the last possible end after n values and before the next value; -1 if there is no such end. */
const endsAfter = new Int32Array(mostValues + 1);

/**
 * Fills `values` and `endsAfter`. @returns how many values precede the last end, another character, or the first value
 * above the maximum number
 */
function readValues(bytes: Uint8Array, start: number, ends: readonly number[]): number {
  endsAfter.fill(-1);
  let length = 0;
  let at = start;
  for (const end of ends) {
    for (; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      const value = valueOfCode(byte);
      if (value !== undefined) {
        if (length === mostValues) return length;
        values[length] = value;
        length += 1;
      } else if (!separators.has(byte)) {
        const size = sizeOfSeparator(bytes, at, end);
        if (size === 0) return length;
        at += size - 1;
      }
    }
    endsAfter[length] = end;
  }
  return length;
}

const separators: ReadonlySet<number> = new Set(Buffer.from(' \t\n\r-./'));
/** The blanks of Unicode (Zs), its dashes (Pd) and the minus sign, as numbers of their bytes in UTF-8. */
const otherSeparators: ReadonlySet<number> = new Set(
  [
    ...'\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
    ...'\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d',
    ...'\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d',
  ].map((character) => Buffer.from(character).reduce((code, byte) => 256 * code + byte, 0)),
);

/**
 * The number of bytes of a blank or a dash outside of ASCII that is completely before `end`; 0 for another character.
 */
function sizeOfSeparator(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] ?? 0;
  const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 0;
  if (size === 0 || at + size > end) return 0;
  let code = 0;
  for (let place = at; place < at + size; place += 1) code = 256 * code + (bytes[place] ?? 0);
  return otherSeparators.has(code) ? size : 0;
}

function valueOfCode(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x5a) return code - 0x37;
  if (code >= 0x61 && code <= 0x7a) return code - 0x57;
  return code === 0x3c ? filler : undefined;
}

const value = (at: number): number => values[at] ?? 0;

function endAfter(length: number): number {
  return endsAfter[length] ?? -1;
}

const endsBehind = (length: number): boolean => endAfter(length) !== -1;

/** Whether all values from `start` to before `end` are at most `most`: 9 for digits, 35 for letters and digits. */
function isWithin(most: number, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (value(at) > most) return false;
  return true;
}

/** The sum of the first values, each multiplied by its weight. */
function weighted(weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at += 1) sum += (weights[at] ?? 0) * value(at);
  return sum;
}

/**
 * A number of 8 to 19 digits; from the right, the second digit and every other digit before it are doubled (ISO/IEC
 * 7812-1, annex B).
 */
function longestLuhn(length: number): number {
  let longest = 0;
  // The sum up to a digit if that digit counts once, and if it counts doubled.
  let once = 0;
  let doubled = 0;
  for (let at = 0; at < Math.min(length, 19) && value(at) <= 9; at += 1) {
    const digit = value(at);
    const before = once;
    once = doubled + digit;
    doubled = before + 2 * digit - (digit > 4 ? 9 : 0);
    if (at >= 7 && endsBehind(at + 1) && once % 10 === 0) longest = at + 1;
  }
  return longest;
}

/** Country, check digits and 11 to 30 characters; the number with letters from 10 is 1 modulo 97 (ISO 13616, ISO 7064). */
function longestIban(length: number): number {
  if (!isWithin(9, 2, 4) || isWithin(9, 0, 1) || isWithin(9, 1, 2)) return 0;
  // The first four characters are moved to the end, where they have six digits.
  const head = 100 * (100 * value(0) + value(1)) + 10 * value(2) + value(3);
  let longest = 0;
  let rest = 0;
  for (let at = 4; at < Math.min(length, 34); at += 1) {
    const next = value(at);
    if (next === filler) break;
    rest = (rest * (next > 9 ? 100 : 10) + next) % 97;
    if (at >= 14 && endsBehind(at + 1) && (rest * 1_000_000 + head) % 97 === 1) longest = at + 1;
  }
  return isWithin(35, 0, 2) ? longest : 0;
}

const innOfCompany = [2, 4, 10, 3, 5, 9, 4, 6, 8];
const innOfPerson = [
  [7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
  [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
];

/** A taxpayer number: 10 digits with one check digit, or 12 with two (order of the Federal Tax Service MMV-7-6/435). */
function longestInn(length: number): number {
  const isChecked = (weights: readonly number[]): boolean => (weighted(weights) % 11) % 10 === value(weights.length);
  const isOfLength = (digits: number): boolean => length >= digits && endsBehind(digits) && isWithin(9, 0, digits);
  if (isOfLength(12) && innOfPerson.every(isChecked)) return 12;
  return isOfLength(10) && isChecked(innOfCompany) ? 10 : 0;
}

const snilsWeights = [9, 8, 7, 6, 5, 4, 3, 2, 1];
const snilsLength = 11;

/** An insurance number: 9 digits and a sum of two digits, for numbers above 001-001-998. */
function isSnils(length: number): boolean {
  if (length < snilsLength || !endsBehind(snilsLength) || !isWithin(9, 0, snilsLength)) return false;
  let number = 0;
  for (let at = 0; at < 9; at += 1) number = 10 * number + value(at);
  return number > 1_001_998 && (weighted(snilsWeights) % 101) % 100 === 10 * value(9) + value(10);
}

/** Positions of the check digits in the second line of a passport, each with the ranges that it covers (ICAO 9303-4). */
const passportLine = [
  [9, [[0, 9]]],
  [19, [[13, 19]]],
  [27, [[21, 27]]],
  [
    43,
    [
      [0, 10],
      [13, 20],
      [21, 43],
    ],
  ],
] as const;

/** The second line of a passport with its four check digits, or one field that ends with its check digit. */
function longestMrz(length: number): number {
  const isLine = length === mostValues && passportLine.every(([at, ranges]) => mrzDigit(ranges) === value(at));
  if (isLine && endsBehind(mostValues)) return mostValues;
  let longest = 0;
  let sum = 0;
  for (let at = 0; at < Math.min(length, mostValues - 1); at += 1) {
    const next = value(at);
    if (at > 0 && endsBehind(at + 1) && sum % 10 === next) longest = at + 1;
    if (next !== filler) sum += mrzWeight(at) * next;
  }
  return longest;
}

/** The check digit of ICAO 9303-3: weights 7, 3, 1, letters from 10, and `<` as 0. */
function mrzDigit(ranges: readonly (readonly [number, number])[]): number {
  let sum = 0;
  let place = 0;
  for (const [start, end] of ranges) {
    for (let at = start; at < end; at += 1) {
      if (value(at) !== filler) sum += mrzWeight(place) * value(at);
      place += 1;
    }
  }
  return sum % 10;
}

const mrzWeights = Uint8Array.from({ length: mostValues }, (_, place) => [7, 3, 1][place % 3] ?? 0);

function mrzWeight(place: number): number {
  return mrzWeights[place] ?? 0;
}
