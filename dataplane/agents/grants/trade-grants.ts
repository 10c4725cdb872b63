import { z } from 'zod';
import { PortError } from '#flow/engine/flow-error';
import type { PortCall } from '#flow/engine/ports';
import { readBounded } from '#kit/http/read-bounded';
import type { AudienceToken, RunGrants } from './run-grants.ts';

/** Largest answer, bytes; time of one trade; how long before its expiry a token is not used any more, milliseconds. */
const limits = { answerBytes: 65_536, tradeMs: 10_000, marginMs: 5_000 } as const;

const tradedSchema = z.object({
  access_token: z.string().min(1).max(16_384),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.int().min(1).max(60),
});
const refusedSchema = z.object({ error: z.enum(['invalid_grant', 'invalid_target', 'invalid_request']) });

/** Tokens for the calls of runs. @throws PortError forbidden, unavailable */
export type RunTokens = { tokenFor(call: PortCall, audience: string): Promise<string> };

/**
 * Trades the grant of a run for tokens of one audience each, at `/token` of the gateway (RFC 8693). The grant is sent to
 * the gateway and nowhere else; a redirect is not followed.
 */
export function createRunTokens(gateway: URL, grants: RunGrants, now: () => number = Date.now): RunTokens {
  const endpoint = new URL(`${gateway.href.replace(/\/+$/, '')}/token`);
  const trade = async (grant: string, audience: string, signal: AbortSignal): Promise<AudienceToken> => {
    const began = now();
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: grant,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      audience,
    });
    const { status, json } = await post(endpoint, form, signal);
    const traded = tradedSchema.safeParse(json);
    if (status === 200 && traded.success) {
      const { access_token: token, expires_in: seconds } = traded.data;
      return { token, until: began + seconds * 1_000 - limits.marginMs };
    }
    throw new PortError(status === 400 && refusedSchema.safeParse(json).success ? 'forbidden' : 'unavailable');
  };
  return {
    tokenFor: ({ runId, signal }, audience) =>
      grants.token(runId, audience, { now: now(), trade: (grant) => trade(grant, audience, signal) }),
  };
}

async function post(url: URL, body: URLSearchParams, signal: AbortSignal) {
  try {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(limits.tradeMs)]);
    const answer = await fetch(url, { method: 'POST', body, redirect: 'error', signal: bounded });
    const bytes = answer.body === null ? undefined : await readBounded(answer.body, limits.answerBytes);
    return { status: answer.status, json: JSON.parse((bytes ?? Buffer.alloc(0)).toString('utf8')) as unknown };
  } catch {
    signal.throwIfAborted();
    throw new PortError('unavailable');
  }
}
