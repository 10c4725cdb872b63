/** A definition of the largest size, written out, is far smaller. */
export const mostAnswerBytes = 16_777_216;

/** The body of an answer; undefined where it is larger than `most`. */
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
