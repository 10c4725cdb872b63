import { createHmac } from 'node:crypto';
import type { AuditEntry } from '#contracts/audit';
import type { TokenFile } from '#kit/http/token-file';
import type { AuditReceiver } from '../../ports.ts';
import { postEntries } from './post-entries.ts';

/**
 * Sends entries as JSON lines, in the form of `portcullis audit export`, signed as Standard Webhooks prescribes:
 * `webhook-signature` is `v1,` and the base64 of the HMAC-SHA256 over `webhook-id.webhook-timestamp.body`. A repeated
 * delivery of the same entries has the same `webhook-id`. If entries have the same numbers as earlier entries, because
 * a dump was restored, the id is different. The entries count as stored after an answer of 2xx.
 * @param secret the key of the HMAC is its first word
 */
export function createWebhookAuditReceiver(
  url: URL,
  secret: Pick<TokenFile, 'first'>,
  now: () => Date = () => new Date(),
): AuditReceiver {
  return {
    name: 'webhook',
    async send(entries, signal) {
      const body = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      const id = deliveryId(entries);
      const timestamp = String(Math.floor(now().getTime() / 1_000));
      let key: string;
      try {
        key = secret.first();
      } catch {
        return { kind: 'failed', reason: 'the key cannot be read', retryAfterMs: 0 };
      }
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/x-ndjson; charset=utf-8',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      };
      const posted = await postEntries(url, { body, headers, signal });
      return posted.kind === 'answer' ? { kind: 'stored' } : posted;
    },
  };
}

function deliveryId(entries: readonly AuditEntry[]): string {
  const [first, last] = [entries[0], entries.at(-1)];
  return `${first?.chain}-${first?.number}-${last?.number}-${last?.hash.slice(0, 16)}`;
}
