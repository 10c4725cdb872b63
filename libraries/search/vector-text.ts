/** A vector as text of its bytes, Float32 and little-endian, which PostgreSQL decodes. */
export function base64OfVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

/** The vector of such a text. Copies the bytes, because 32-bit numbers require an aligned offset. */
export function vectorOfBase64(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  const vector = new Float32Array(bytes.length / Float32Array.BYTES_PER_ELEMENT);
  new Uint8Array(vector.buffer).set(bytes);
  return vector;
}
