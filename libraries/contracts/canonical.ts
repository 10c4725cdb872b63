import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * The canonical JSON bytes of a value (RFC 8785).
 * Members that are undefined are left out; NaN, infinities and unpaired surrogates throw.
 */
export function canonicalBytes(value: unknown): Buffer {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('canonical JSON was requested for a value that JSON cannot express');
  return Buffer.from(text, 'utf8');
}

/** SHA-256 as 64 lower-case hexadecimal characters, without a prefix. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The digest of a value: SHA-256 of its canonical JSON (`bundle:file:canonical-digest`). */
export function digestOf(value: unknown): string {
  return sha256Hex(canonicalBytes(value));
}
