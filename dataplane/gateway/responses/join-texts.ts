import { beginOf, tailOf } from '#checks/guard/join-seams';
import type { CheckUnit } from '../chat/check-unit.ts';

const textPath = /^\d+\.\d+\.text$/;
const growingPath = /^\d+\.\d+\.(?:text|refusal|reasoning|summary)$/;

/**
 * Whether the path is that of a text of a message. Clients join these texts to one text (`output_text`), without the
 * refusals.
 */
export function isMessageText(path: string): boolean {
  return textPath.test(path);
}

/** Whether the path is that of a text that can arrive in pieces. */
export function isGrowingText(path: string): boolean {
  return growingPath.test(path);
}

/** Whether the place of one text of a message precedes the place of another text. */
export function isInFront(path: string, other: string): boolean {
  const [item = 0, part = 0] = positionsOf(path);
  const [otherItem = 0, otherPart = 0] = positionsOf(other);
  return item < otherItem || (item === otherItem && part < otherPart);
}

function positionsOf(path: string): readonly number[] {
  return path.split('.', 2).map(Number);
}

/**
 * The texts around each place where clients join two texts of messages, so that a phrase across such a place is judged,
 * too. A mask of such a text has no place in the answer.
 */
export function seamsOf(texts: readonly { readonly path: string; readonly text: string }[]): readonly CheckUnit[] {
  const seams: CheckUnit[] = [];
  let before = '';
  for (const { path, text } of texts) {
    if (!isMessageText(path) || text === '') continue;
    if (before !== '') seams.push({ role: 'assistant', content: before + beginOf(text), place: { kind: 'fixed' } });
    before = tailOf(before + text);
  }
  return seams;
}
