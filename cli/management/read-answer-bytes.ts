/** Far more than the largest definition as JSON. */
export const mostAnswerBytes = 16_777_216;

/** The body of a response; undefined if it is larger than `most` bytes. */
export async function readAnswerBytes(answer: Response, most: number): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > most) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
