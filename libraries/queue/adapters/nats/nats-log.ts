import { type NatsOptions, NatsStream, type StreamMessage } from './nats-stream.ts';

/** `stored`: the server has it; `refused`: the stream never takes this message; `failed`: try again later. */
type StoreOutcome = 'stored' | 'refused' | 'failed';

export type NatsLog = AsyncDisposable & {
  /**
   * Stores a message under the name of the stream, a full stop and the topic, which has no full stop. It never rejects: what is
   * not known to be stored has failed.
   */
  store(topic: string, message: StreamMessage): Promise<StoreOutcome>;
};

/** JSStreamMessageExceedsMaximumErr of the server: the limits of the stream do not admit the message. */
const tooLarge = 10_054;

/** A stream of NATS JetStream that keeps every message for a time. It connects with the first message, and again after each loss. */
export function createNatsLog(options: NatsOptions, keptHours: number): NatsLog {
  const stream = new NatsStream(options, { hours: keptHours });
  return {
    async store(topic, message) {
      try {
        await stream.publish(topic, message);
        return 'stored';
      } catch (error) {
        const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
        return code === tooLarge ? 'refused' : 'failed';
      }
    },
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
}
