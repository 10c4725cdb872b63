import { beginOf, tailOf } from '#checks/guard/join-seams';
import type { CheckUnit } from '../chat/check-unit.ts';

const textPath = /^\d+\.\d+\.text$/;

/** Whether the path is that of a text of a message. Clients join these texts, refusals apart, to one (`output_text`). */
export function isMessageText(path: string): boolean {
  return textPath.test(path);
}

/**
 * The texts around each place where clients join two texts of messages, so that a phrase which is cut there is judged,
 * too. A mask of one has no place in the answer.
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
