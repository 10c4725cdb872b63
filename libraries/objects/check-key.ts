/** Longest key and longest segment, in bytes: S3 takes keys of 1,024, file systems names of 255. */
const keyLimits = { key: 900, segment: 200 } as const;

/** Letters, digits, `.`, `_` and `-`, no dot at the beginning: neither `..` nor a hidden file is a segment. */
const segmentForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Whether segments separated by slashes have the form of a key. */
export function isKey(text: string): boolean {
  return (
    text.length <= keyLimits.key &&
    text.split('/').every((segment) => segment.length <= keyLimits.segment && segmentForm.test(segment))
  );
}

/** @throws TypeError */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new TypeError('the key of an object is not made of segments of letters and digits');
}

/** @throws TypeError unless the prefix is empty or a key with a slash at its end */
export function checkPrefix(prefix: string): void {
  if (prefix === '') return;
  if (!prefix.endsWith('/')) throw new TypeError('the prefix of objects has no slash at its end');
  checkKey(prefix.slice(0, -1));
}
