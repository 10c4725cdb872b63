import { describeFailure } from '#kit/log/describe-failure';
import { wait } from '#kit/time/wait';
import type { HintQueue } from './ports.ts';

type SubscriptionOptions = {
  readonly onHint: () => void;
  /** Called with the failure of each attempt to subscribe. */
  readonly onAway: (failure: ReturnType<typeof describeFailure>) => void;
  /** Time between two attempts, milliseconds. */
  readonly everyMs: number;
};

/**
 * Subscribes as soon as the queue answers, and then also notifies once; until then tables are read without
 * notifications.
 */
export function keepSubscribed(
  queue: HintQueue,
  topic: string,
  { onHint, onAway, everyMs }: SubscriptionOptions,
): AsyncDisposable {
  const stop = new AbortController();
  async function subscribe(): Promise<AsyncDisposable | undefined> {
    while (!stop.signal.aborted) {
      try {
        const subscription = await queue.subscribe(topic, onHint);
        onHint();
        return subscription;
      } catch (error) {
        onAway(describeFailure(error));
        await wait(everyMs, stop.signal);
      }
    }
    return undefined;
  }
  const subscribed = subscribe();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await (await subscribed)?.[Symbol.asyncDispose]();
    },
  };
}
