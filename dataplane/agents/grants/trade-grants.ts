import { z } from 'zod';
import { PortError } from '#flow/engine/flow-error';
import type { PortCall } from '#flow/engine/ports';
import { readBounded } from '#kit/http/read-bounded';
import { wait } from '#kit/time/wait';
import type { RunGrants } from './run-grants.ts';

/**
 * Maximum size of an answer, bytes; time limit of one exchange and longest pause before it is repeated, milliseconds.
 */
const limits = { answerBytes: 65_536, tradeMs: 10_000, pauseMs: 5_000 } as const;

const tradedSchema = z.object({
  access_token: z.string().min(1).max(16_384),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.int().min(1).max(60),
});
const refusedSchema = z.object({ error: z.enum(['invalid_grant', 'invalid_target', 'invalid_request']) });

/** Tokens for the calls of runs. @throws PortError grant_ended, forbidden, unavailable */
export type RunTokens = { tokenFor(call: PortCall, audience: string): Promise<string> };

/**
 * Trades the grant of a run for a token of one audience, at the path `/token` of the gateway (RFC 8693). Each call of a
 * run makes a separate exchange, because the gateway then checks the rights of the user and the route of the version
 * again: a stored token would allow further calls after a revocation. The grant is sent to the gateway and nowhere
 * else; a redirect is not followed. A run that requests too many tokens at once waits for the Retry-After of the
 * gateway, at most 5 s, and requests once more.
 */
export function createRunTokens(gateway: URL, grants: Pick<RunGrants, 'of'>): RunTokens {
  const endpoint = new URL(`${gateway.href.replace(/\/+$/, '')}/token`);
  return {
    async tokenFor({ runId, trace, share, signal }, audience) {
      const form = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: grants.of(runId),
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        audience,
        ...(share === undefined ? {} : { budget: JSON.stringify(share.amounts) }),
      });
      const sending = { signal, headers: { traceparent: trace.traceparent } };
      const first = await post(endpoint, form, sending);
      if (first.status === 429) await wait(first.pauseMs, signal);
      const { status, json } = first.status === 429 ? await post(endpoint, form, sending) : first;
      const traded = tradedSchema.safeParse(json);
      if (status === 200 && traded.success) return traded.data.access_token;
      const refusal = refusedSchema.safeParse(json);
      if (status !== 400 || !refusal.success) throw new PortError('unavailable');
      throw new PortError(refusal.data.error === 'invalid_grant' ? 'grant_ended' : 'forbidden');
    },
  };
}

type Sending = { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> };

async function post(url: URL, body: URLSearchParams, { signal, headers }: Sending) {
  try {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(limits.tradeMs)]);
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: bounded });
    const bytes = answer.body === null ? undefined : await readBounded(answer.body, limits.answerBytes);
    const json = JSON.parse((bytes ?? Buffer.alloc(0)).toString('utf8')) as unknown;
    return { status: answer.status, json, pauseMs: pauseOf(answer.headers.get('retry-after')) };
  } catch {
    signal.throwIfAborted();
    throw new PortError('unavailable');
  }
}

/** Seconds of RFC 9110, section 10.2.3, as milliseconds; a second for any other text. */
function pauseOf(header: string | null): number {
  const seconds = header !== null && /^\d{1,6}$/.test(header) ? Number(header) : 1;
  return Math.min(seconds * 1_000, limits.pauseMs);
}
