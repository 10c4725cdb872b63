import { Readable } from 'node:stream';

/**
 * A body up to this size is sent in one piece and stays in memory until the call has ended, like the headers of the
 * call.
 */
const wholeBytes = 16_384;
/** A larger body is sent in pieces of this size, and leaves the memory after its last piece. */
const pieceBytes = 65_536;

/**
 * The body of a call as the HTTP client takes it. The client keeps bytes until the answer has ended, but drops a stream piece by piece.
 * @param onSent called once, when the body is no longer in memory
 */
export function processBody(bytes: Buffer, onSent: () => void): Buffer | Readable {
  if (bytes.length <= wholeBytes) {
    onSent();
    return bytes;
  }
  // The complete body is available, so that the client knows the length.
  const body = new Readable({ read: () => undefined });
  body.on('error', () => undefined).once('close', onSent);
  for (let at = 0; at < bytes.length; at += pieceBytes) body.push(bytes.subarray(at, at + pieceBytes));
  body.push(null);
  return body;
}
