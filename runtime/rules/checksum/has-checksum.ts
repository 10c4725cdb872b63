import type { Checksum } from '#contracts/checksums';

/**
 * Whether a match has valid check digits. Blanks, hyphens, dots and slashes in it are ignored, and so is letter case;
 * any other character that the number cannot have makes it invalid.
 */
export function hasChecksum(kind: Checksum, match: string): boolean {
  const length = readValues(match);
  switch (kind) {
    case 'luhn':
      return isLuhn(length);
    case 'iban':
      return isIban(length);
    case 'inn':
      return isInn(length);
    case 'snils':
      return isSnils(length);
    case 'mrz':
      return isMrz(length);
  }
}

const filler = 36;
const separators = new Set(' \t\n\r-./\u00a0');
/** The longest number that has a checksum is the line of a passport. */
const longest = 44;
/** The digits of the match that is tested, letters from 10 and `<` as 36; one buffer, because matches are many. */
const values = new Uint8Array(longest);

/** Fills `values`. @returns how many there are; 0 for a match with another character or too many */
function readValues(match: string): number {
  let length = 0;
  for (let at = 0; at < match.length; at += 1) {
    const value = valueOfCode(match.charCodeAt(at));
    if (value === undefined) {
      if (!separators.has(match.charAt(at))) return 0;
      continue;
    }
    if (length === longest) return 0;
    values[length] = value;
    length += 1;
  }
  return length;
}

function valueOfCode(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x5a) return code - 0x37;
  if (code >= 0x61 && code <= 0x7a) return code - 0x57;
  return code === 0x3c ? filler : undefined;
}

const value = (at: number): number => values[at] ?? 0;

/** Whether all values from `start` to before `end` are at most `most`: 9 for digits, 35 for letters and digits. */
function isWithin(most: number, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (value(at) > most) return false;
  return true;
}

/** The sum of the values from the first on, each multiplied by its weight. */
function weighted(weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at += 1) sum += (weights[at] ?? 0) * value(at);
  return sum;
}

/** 8 to 19 digits, the second from the right and every other one before it doubled (ISO/IEC 7812-1, annex B). */
function isLuhn(length: number): boolean {
  if (length < 8 || length > 19 || !isWithin(9, 0, length)) return false;
  let sum = 0;
  for (let at = 0; at < length; at += 1) {
    const digit = value(at);
    sum += (length - at) % 2 === 1 ? digit : 2 * digit - (digit > 4 ? 9 : 0);
  }
  return sum % 10 === 0;
}

/** Country, check digits and 11 to 30 characters; the number with letters from 10 is 1 modulo 97 (ISO 13616, ISO 7064). */
function isIban(length: number): boolean {
  if (length < 15 || length > 34 || !isWithin(9, 2, 4) || !isWithin(35, 0, length)) return false;
  if (isWithin(9, 0, 1) || isWithin(9, 1, 2)) return false;
  let rest = 0;
  for (let step = 0; step < length; step += 1) {
    const next = value((step + 4) % length);
    rest = (rest * (next > 9 ? 100 : 10) + next) % 97;
  }
  return rest === 1;
}

const innOfCompany = [2, 4, 10, 3, 5, 9, 4, 6, 8];
const innOfPerson = [
  [7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
  [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
];

/** A taxpayer number: 10 digits with one check digit, or 12 with two (order of the Federal Tax Service MMV-7-6/435). */
function isInn(length: number): boolean {
  if (!isWithin(9, 0, length)) return false;
  const isChecked = (weights: readonly number[]): boolean => (weighted(weights) % 11) % 10 === value(weights.length);
  if (length === 10) return isChecked(innOfCompany);
  return length === 12 && innOfPerson.every(isChecked);
}

const snilsWeights = [9, 8, 7, 6, 5, 4, 3, 2, 1];

/** An insurance number: 9 digits and a sum of two digits, for numbers above 001-001-998. */
function isSnils(length: number): boolean {
  if (length !== 11 || !isWithin(9, 0, length)) return false;
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
function isMrz(length: number): boolean {
  if (length < 2) return false;
  if (length !== longest) return mrzDigit([[0, length - 1]]) === value(length - 1);
  return passportLine.every(([at, ranges]) => mrzDigit(ranges) === value(at));
}

/** The check digit of ICAO 9303-3: weights 7, 3, 1, letters from 10, and `<` as 0. */
function mrzDigit(ranges: readonly (readonly [number, number])[]): number {
  let sum = 0;
  let place = 0;
  for (const [start, end] of ranges) {
    for (let at = start; at < end; at += 1) {
      const weight = place % 3 === 0 ? 7 : place % 3 === 1 ? 3 : 1;
      sum += weight * (value(at) % filler);
      place += 1;
    }
  }
  return sum % 10;
}
