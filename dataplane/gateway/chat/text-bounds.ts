import { limits } from '#contracts/limits';

/**
 * Memory of one JSON value, of one text to judge, or of one held frame, in addition to its characters, in bytes: the
 * objects of a tree or of a list, and their entries in them.
 */
export const bytesPerValue = 256;

/** Memory of texts that are held as strings, bytes. */
export function textMemory(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + bytesPerValue + 2 * text.length, 0);
}

/**
 * Maximum number of checks of one request, of one whole answer, and of the complete texts of one event. A request of 20
 * MiB whose texts fill checks of the default size needs about 700 checks.
 */
export const maxChecks = 1_024;

/**
 * Maximum number of checks of one request including the repeated checks of its masks: each place where a long text is
 * cut between masks, and each JSON text with a mask inside, is judged again.
 */
export const maxChecksWithMasks = 4 * maxChecks;

/** Maximum number of texts that as many checks can have. */
export const maxTexts = maxChecks * limits.maxMessages.max;
