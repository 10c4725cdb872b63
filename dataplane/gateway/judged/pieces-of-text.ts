import { checkBytes } from '#checks/batch-messages';
import { windowsOf } from '#checks/cut-windows';
import type { CheckMessage } from '#contracts/checks';

/**
 * The pieces in which a text of an answer is judged: as a whole if it fits into one check, else in the windows of a
 * stream. A text that is not well-formed is never cut, so that its check fails.
 */
export function piecesOfText(message: CheckMessage, maxBodyBytes: number): readonly string[] {
  if (checkBytes(message, 'response') <= maxBodyBytes) return [message.content];
  return windowsOf(message.content) ?? [message.content];
}
