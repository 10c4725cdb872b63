import { createNatsLog } from '#queue/adapters/nats/nats-log';
import type { NatsOptions } from '#queue/adapters/nats/nats-queue';
import type { DeliveryOutcome, EventReceiver } from '../../ports.ts';

/** How long a stream that the relay creates keeps events; consumers that were away for longer read the catalogue again. */
const keptHours = 168;

/**
 * Stores each event in a stream of NATS JetStream, in the structured mode of CloudEvents: the subject is the name of the stream,
 * a full stop and the id of the agent, and the id of the message is that of the event, by which the server drops a repeated one.
 */
export function createNatsReceiver(options: NatsOptions): EventReceiver {
  const log = createNatsLog(options, keptHours);
  return {
    async deliver(event, signal) {
      if (signal.aborted) return 'failed';
      const aborted = Promise.withResolvers<DeliveryOutcome>();
      const fail = (): void => aborted.resolve('failed');
      signal.addEventListener('abort', fail);
      const message = { id: event.id, body: JSON.stringify(event), contentType: 'application/cloudevents+json' };
      const stored = log.store(event.subject, message);
      const outcome = stored.then((end): DeliveryOutcome => (end === 'stored' ? 'delivered' : end));
      try {
        return await Promise.race([outcome, aborted.promise]);
      } finally {
        signal.removeEventListener('abort', fail);
      }
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
