import { request } from 'undici';
import { readBounded } from '#kit/http/read-bounded';
import type { AuditDelivery } from '../../ports.ts';

/** Longest wait for an answer, milliseconds. */
const timeoutMs = 10_000;
const mostAnswerBytes = 64 * 1_024;
/** Longest wait that a receiver can request, milliseconds. */
const mostRetryAfterMs = 60_000;

/** The text of an answer with status 2xx, or the reason of the failure. */
type Posted = { readonly kind: 'answer'; readonly text: string } | Extract<AuditDelivery, { kind: 'failed' }>;

/** Sends one POST without redirects. Never rejects. `Retry-After` is honoured in seconds. */
export async function postEntries(
  url: URL,
  call: { readonly body: string; readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Posted> {
  const { body, headers } = call;
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answer = await request(url, { method: 'POST', body, headers, signal });
    const text = await readBounded(answer.body, mostAnswerBytes);
    const { statusCode } = answer;
    if (statusCode >= 200 && statusCode < 300) return { kind: 'answer', text: text?.toString('utf8') ?? '' };
    const seconds = Number(answer.headers['retry-after']);
    const retryAfterMs = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1_000, mostRetryAfterMs) : 0;
    return { kind: 'failed', reason: `status ${statusCode}`, retryAfterMs };
  } catch {
    // The message of the client can quote the address, which can hold a secret.
    return { kind: 'failed', reason: 'no answer', retryAfterMs: 0 };
  }
}
