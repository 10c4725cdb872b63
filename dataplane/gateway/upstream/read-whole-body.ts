import type { AnswerBody } from './answer-body.ts';

type WholeBody =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly fault: 'too_large' | 'refused' | 'broken' };

/**
 * Reads a provider answer whole, at most `limit` bytes. `hold` is called with each piece before it is kept, and nothing is
 * read while it decides; after false the fault is `refused`. Rejects only with the reason of the signal.
 */
export async function readWholeBody(
  body: Omit<AnswerBody, 'drain'>,
  { limit, hold }: { readonly limit: number; readonly hold: (bytes: number) => boolean | Promise<boolean> },
  signal: AbortSignal,
): Promise<WholeBody> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of body) {
      length += part.length;
      if (length > limit) return { ok: false, fault: 'too_large' };
      const isHeld = await hold(part.length);
      if (signal.aborted) throw signal.reason;
      if (!isHeld) return { ok: false, fault: 'refused' };
      parts.push(part);
    }
    return { ok: true, bytes: Buffer.concat(parts, length) };
  } catch {
    if (signal.aborted) throw signal.reason;
    return { ok: false, fault: 'broken' };
  }
}
