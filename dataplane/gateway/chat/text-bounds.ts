import { limits } from '#contracts/limits';

/**
 * Memory of one JSON value, of one text to judge, or of one held frame, beside its characters, in bytes: the objects of a tree or of a
 * list, and their places in them.
 */
export const bytesPerValue = 256;

/** Memory of texts that are held as strings, bytes. */
export function textMemory(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + bytesPerValue + 2 * text.length, 0);
}

/** The most texts of a request or an answer whose memory counts: those of 1,024 checks. */
export const maxTexts = 1_024 * limits.maxMessages.max;
