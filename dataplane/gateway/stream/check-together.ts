import { batchMessages } from '#checks/batch-messages';
import type { CheckLimits } from '../judged/call-texts.ts';
import type { GuardCheck } from './stepped-guard.ts';

/** A text to judge, and the action when it has passed. */
export type WaitingText = { readonly text: string; readonly pass: () => void };

/**
 * Takes texts of a stream for one check: the first texts in their order, as many as its limits allow, each as a
 * separate message. Therefore no text passes before earlier texts. Any denied text stops the stream. Patterns and terms
 * judge each message alone; a classifier or a detector gets all messages of a check together, as for a whole answer.
 * @param waiting at least one text
 */
export function checkTogether(waiting: readonly WaitingText[], limits: CheckLimits): GuardCheck {
  const messages = waiting.map(({ text }) => ({ role: 'assistant', content: text }));
  const [batch = []] = batchMessages(messages, limits, 'response');
  const judged = waiting.slice(0, batch.length);
  return {
    texts: judged.map(({ text }) => text),
    pass: () => {
      for (const { pass } of judged) pass();
    },
  };
}
