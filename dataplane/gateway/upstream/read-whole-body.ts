import type { AnswerBody } from './answer-body.ts';

type WholeBody =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly fault: 'too_large' | 'refused' | 'broken' };

/**
 * Reads a provider answer as a whole, at most `limit` bytes. `hold` is called with each piece before the piece is kept,
 * and nothing is read until it decides; if it returns false, the fault is `refused`. Rejects only with the reason of
 * the signal.
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
