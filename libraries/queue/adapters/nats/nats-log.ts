import type { MessageLog } from '../../ports.ts';
import { type NatsOptions, NatsStream } from './nats-stream.ts';

/** JSStreamMessageExceedsMaximumErr of the server: the limits of the stream do not admit the message. */
const tooLarge = 10_054;

/**
 * A stream of NATS JetStream that keeps every message for a time. The subject of a message is the name of the stream, a
 * full stop and the topic, which has no full stop. The client connects with the first message, and reconnects after
 * each loss.
 */
export function createNatsLog(options: NatsOptions, keptHours: number): MessageLog {
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
