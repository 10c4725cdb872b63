import type { Readable } from 'node:stream';

export type WholeBody =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly fault: 'too_large' | 'broken' };

/** Reads an answer whole, at most `limit` bytes of it. Rejects only with the reason of the signal. */
export async function readWholeBody(body: Readable, limit: number, signal: AbortSignal): Promise<WholeBody> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > limit) return { ok: false, fault: 'too_large' };
      parts.push(part);
    }
    return { ok: true, bytes: Buffer.concat(parts, length) };
  } catch {
    if (signal.aborted) throw signal.reason;
    return { ok: false, fault: 'broken' };
  }
}

/** Lets go of a body that nobody reads; its connection is given up with it. */
export function abandonBody(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
