import { KubeError } from './kube-error.ts';

const lineFeed = 0x0a;

/**
 * Splits a byte stream into lines, independently of chunk boundaries.
 * @throws KubeError `network` when the stream ends within a line or a line exceeds `maxBytes`
 */
export async function* decodeLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer, void, void> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      const line = Buffer.concat([...held, bytes.subarray(start, end)]);
      held = [];
      heldBytes = 0;
      start = end + 1;
      if (line.length > maxBytes) throw tooLong(maxBytes);
      if (line.length > 0) yield line;
    }
    if (start < bytes.length) {
      held.push(bytes.subarray(start));
      heldBytes += bytes.length - start;
      if (heldBytes > maxBytes) throw tooLong(maxBytes);
    }
  }
  if (heldBytes > 0) throw new KubeError('network', 'the watch was cut off within an event');
}

function tooLong(maxBytes: number): KubeError {
  return new KubeError('network', `an event of the watch exceeds ${maxBytes} bytes`);
}
