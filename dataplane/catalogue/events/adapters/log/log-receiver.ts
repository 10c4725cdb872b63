import type { MessageLog } from '#queue/ports';
import type { DeliveryOutcome, EventReceiver } from '../../ports.ts';

/**
 * Stores each event in a log, in the structured mode of CloudEvents: the topic is the id of the agent, and the id of the message is
 * that of the event. The log is disposed with the receiver.
 */
export function createLogReceiver(log: MessageLog): EventReceiver {
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
