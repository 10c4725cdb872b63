import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { TokenFile } from '#kit/http/token-file';
import type { CloudEvent, DeliveryOutcome, EventReceiver } from '../../ports.ts';

/** Longest wait for an answer, milliseconds. */
const timeoutMs = 10_000;

/**
 * Sends each event with POST, signed as Standard Webhooks prescribe: `webhook-signature` is `v1,` and the base64 of the
 * HMAC-SHA256 over `webhook-id.webhook-timestamp.body`. No redirect is followed. An answer of 2xx stores the event; 4xx
 * refuses it, unless the status is about the address, the secret or the moment.
 * @param secret the key of the HMAC is its first word
 */
export function createWebhookReceiver(
  url: URL,
  secret: Pick<TokenFile, 'first'>,
  now: () => Date = () => new Date(),
): EventReceiver {
  const dispatcher = new Agent({ connect: { timeout: timeoutMs } });
  return {
    async deliver(event, signal) {
      try {
        const body = JSON.stringify(event);
        const timestamp = String(Math.floor(now().getTime() / 1_000));
        const answer = await request(url, {
          dispatcher,
          method: 'POST',
          body,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
          headers: {
            'content-type': 'application/cloudevents+json; charset=utf-8',
            'webhook-id': event.id,
            'webhook-timestamp': timestamp,
            'webhook-signature': `v1,${signatureOf(secret.first(), event, timestamp, body)}`,
          },
        });
        await answer.body.dump();
        return outcomeOf(answer.statusCode);
      } catch {
        return 'failed';
      }
    },
    [Symbol.asyncDispose]: () => dispatcher.close(),
  };
}

function signatureOf(secret: string, { id }: CloudEvent, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
}

/** Statuses that every event would get: the delivery is repeated until the receiver or the settings are corrected. */
const aboutReceiver: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 408, 410, 421, 425, 429]);

function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return 'delivered';
  return status >= 400 && status < 500 && !aboutReceiver.has(status) ? 'refused' : 'failed';
}
