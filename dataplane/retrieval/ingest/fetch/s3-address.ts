/** An object, or a folder whose key is empty or ends with a slash. */
export type S3Address = { readonly bucket: string; readonly key: string };

/**
 * The scheme is matched in either case (RFC 3986, 3.1). Names of buckets follow the rules of Amazon S3 (user guide,
 * Bucket naming rules); the key is taken unchanged, without unescaping.
 */
const form = /^[sS]3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.*)$/su;
/** Longest key, in bytes. */
const maxKeyBytes = 1_024;

/**
 * Reads an s3 address. A key with a segment `.` or `..`, an empty segment or a control character is refused, because a
 * server may resolve it to another object.
 */
export function parseS3Address(uri: string): S3Address | undefined {
  const [, bucket, key] = form.exec(uri) ?? [];
  if (bucket === undefined || key === undefined || bucket.includes('..')) return undefined;
  if (Buffer.byteLength(key) > maxKeyBytes || /[\p{Cc}\\]/u.test(key)) return undefined;
  const segments = key.replace(/\/$/, '').split('/');
  const isPlain = key === '' || segments.every((segment) => !['', '.', '..'].includes(segment));
  return isPlain ? { bucket, key } : undefined;
}

/** Whether an object is in a folder or below it. */
export function isBelow(object: S3Address, folder: S3Address): boolean {
  return object.bucket === folder.bucket && object.key !== folder.key && object.key.startsWith(folder.key);
}
