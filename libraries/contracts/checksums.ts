import { z } from 'zod';

/**
 * The check digits that a match of a pattern must have (docs/design/checksums.md): `luhn` of card numbers (ISO/IEC 7812),
 * `iban` (ISO 13616), `inn` and `snils` of Russia, and `mrz` of passports (ICAO 9303).
 */
export const checksums = ['luhn', 'iban', 'inn', 'snils', 'mrz'] as const;
export type Checksum = (typeof checksums)[number];

export const checksumSchema = z
  .enum(checksums)
  .describe('checksum names the check digits that a match must have; without it, every match counts.');
