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

/** A text that the first pattern masks. */
export const maskMark = ' write to anna.petrova@example.com today ';

const syllables = 'ba ce dri fo gul hem ja ki lo mun nar po qua ril sto tem vu wex ya zor'.split(' ');

/** The given number of distinct artificial words, at most 8,000; the first words are the same for any number. */
export function termsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const number = (index * 7_919) % 8_000;
    return [number % 20, Math.floor(number / 20) % 20, Math.floor(number / 400)]
      .map((digit) => syllables[digit])
      .join('');
  });
}

/** A text that one of the terms denies. */
export const denyMark = ` ${termsOf(8)[7]} `;

export type Rules = {
  readonly patterns: number;
  readonly terms: number;
  readonly match?: 'token' | 'substring';
  readonly maxBodyBytes?: number;
};

type Expression = { readonly id: string; readonly pattern: string; readonly caseSensitive: boolean };

/** Makes the given number of patterns: first the eight patterns listed above, then one for each kind of code. */
export function expressionsOf(count: number): readonly Expression[] {
  const own = patterns.map((pattern) => ({ caseSensitive: true, ...pattern }));
  const codes = Array.from({ length: Math.max(0, count - own.length) }, (_, index) => ({
    id: `code-${index}`,
    pattern: `\\bcode${index}-[A-Z0-9]{8}\\b`,
    caseSensitive: true,
  }));
  return [...own, ...codes].slice(0, count);
}

/** A policy with the given number of masking patterns and one stop list that denies. */
export function benchBundle({ patterns: count, terms, match = 'token', maxBodyBytes = 32_768 }: Rules): Bundle {
  const baseline = terms === 0 ? [] : [stopList('terms', termsOf(terms), { match })];
  const rules = expressionsOf(count).map(({ id, pattern, caseSensitive }) =>
    enforced(masking(regex(id, pattern, caseSensitive), '[removed]')),
  );
  return bundle([policy(section(baseline, rules))], {
    limits: { maxBodyBytes, maxMessages: 32, maxMatches: 256, maxConcurrency: 64, queueSize: 0 },
  });
}
