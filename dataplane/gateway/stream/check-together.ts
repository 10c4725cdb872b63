import { batchMessages } from '#checks/batch-messages';
import type { TextChannel } from '#checks/text-channel';
import type { CheckLimits } from '../judged/call-texts.ts';
import type { GuardCheck } from './stepped-guard.ts';

type NextWindow = NonNullable<ReturnType<TextChannel['nextWindow']>>;
/** The next window of one text of a stream. */
export type ChannelWindow = { readonly channel: TextChannel; readonly window: NextWindow };

/**
 * One check of windows of different texts, as many as its limits allow, each as a message of its own. Any denied
 * window stops the stream. Patterns and terms judge each message alone; a classifier or a detector gets the messages of a
 * check together, as for a whole answer.
 * @param windows at least one
 */
export function checkTogether(windows: readonly ChannelWindow[], limits: CheckLimits): GuardCheck {
  const messages = windows.map(({ window }) => ({ role: 'assistant', content: window.text }));
  const [batch = []] = batchMessages(messages, limits, 'response');
  const judged = windows.slice(0, batch.length);
  return {
    texts: judged.map(({ window }) => window.text),
    pass: () => {
      for (const { channel, window } of judged) channel.pass(window);
    },
  };
}
