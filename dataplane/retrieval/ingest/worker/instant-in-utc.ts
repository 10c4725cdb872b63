/**
 * An instant of the contract in UTC, with at most six fractional digits. PostgreSQL refuses offsets of 16 hours and
 * more, which RFC 3339 allows, and rounds further digits up.
 */
export function instantInUtc(text: string): string {
  const fraction = /\.\d+/.exec(text)?.[0] ?? '';
  const seconds = new Date(text.replace(fraction, '')).toISOString().replace('.000Z', '');
  return `${seconds}${fraction.slice(0, 7)}Z`;
}
