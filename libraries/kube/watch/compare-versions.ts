/**
 * Orders two resource versions, which are decimal numbers of any length without leading zeros (Kubernetes KEP-5504);
 * "0" is the lowest. @throws RangeError for any other text
 */
export function compareVersions(a: string, b: string): -1 | 0 | 1 {
  assertVersion(a);
  assertVersion(b);
  if (a === b) return 0;
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a < b ? -1 : 1;
}

/** Whether a text can be compared as a resource version. */
export function isVersion(text: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(text);
}

function assertVersion(text: string): void {
  if (!isVersion(text))
    throw new RangeError('a resource version to compare is not a decimal number without leading zeros');
}
