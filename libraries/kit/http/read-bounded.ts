/** The bytes of a response body; if there are more than `most`, the result is undefined and the transfer ends. */
export async function readBounded(chunks: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | undefined> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > most) return undefined;
    kept.push(chunk);
  }
  return Buffer.concat(kept, length);
}
