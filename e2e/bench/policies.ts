import type { Bundle } from '#contracts/bundle';
import { bundle, enforced, masking, policy, regex, section, stopList } from '../../runtime/testing/build-bundle.ts';

const patterns = [
  { id: 'email', pattern: '[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}\\.[a-z]{2,24}', caseSensitive: false },
  { id: 'card', pattern: '\\b\\d{4}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}\\b' },
  { id: 'iban', pattern: '\\b[A-Z]{2}\\d{2}(?: ?[A-Z0-9]{4}){3,7}\\b' },
  { id: 'aws-key', pattern: '\\bAKIA[0-9A-Z]{16}\\b' },
  { id: 'api-key', pattern: '\\bsk-[A-Za-z0-9]{20,48}\\b' },
  { id: 'phone', pattern: '\\+7[ (-]{0,2}\\d{3}[ )-]{0,2}\\d{3}[ -]?\\d{2}[ -]?\\d{2}' },
  { id: 'ssn', pattern: '\\b\\d{3}-\\d{2}-\\d{4}\\b' },
  { id: 'private-key', pattern: '-----BEGIN (?:RSA |EC )?PRIVATE KEY-----' },
] as const;

/** What the first pattern masks and what one of the terms denies. */
export const maskMark = ' write to anna.petrova@example.com today ';
export const denyMark = ' forbidden0007 ';

/** Words of no prose: `forbidden0000`, `forbidden0001`, ... */
export function termsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `forbidden${String(index).padStart(4, '0')}`);
}

export type Rules = {
  readonly patterns: number;
  readonly terms: number;
  readonly match?: 'token' | 'substring';
  readonly maxBodyBytes?: number;
};

/** A policy of so many masking patterns (the eight of above under several numbers) and one stop list that denies. */
export function benchBundle({ patterns: count, terms, match = 'token', maxBodyBytes = 32_768 }: Rules): Bundle {
  const baseline = terms === 0 ? [] : [stopList('terms', termsOf(terms), { match })];
  const rules = Array.from({ length: count }, (_, index) => {
    const source = patterns[index % patterns.length] ?? patterns[0];
    const repeated = Math.floor(index / patterns.length);
    const expression = repeated === 0 ? source.pattern : `${source.pattern}(?:#${repeated})`;
    return enforced(masking(regex(`${source.id}-${repeated}`, expression, !('caseSensitive' in source)), '[removed]'));
  });
  return bundle([policy(section(baseline, rules))], {
    limits: { maxBodyBytes, maxMessages: 32, maxMatches: 256, maxConcurrency: 64, queueSize: 0 },
  });
}
