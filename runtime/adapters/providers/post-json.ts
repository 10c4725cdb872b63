import { type Dispatcher, request } from 'undici';
import { readBounded } from '#kit/http/read-bounded';
import type { TokenFile } from '#kit/http/token-file';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import type { Verdict } from '../../rules/compiled-section.ts';

/**
 * Maximum number of answer bytes that are read. A decision needs less than 100; a chat completion around it a few
 * thousand.
 */
export const answerBytes = 65_536;

/** Address and credential of a provider. */
export type ProviderCall = {
  readonly dispatcher: Dispatcher;
  /** The URL, which is called unchanged. */
  readonly endpoint: string;
  readonly credential: TokenFile;
};

type ProviderAnswer =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly verdict: Extract<Verdict, { kind: 'failed' }> };

const unavailable: ProviderAnswer = { ok: false, verdict: { kind: 'failed', code: 'provider_unavailable' } };
const invalid: ProviderAnswer = { ok: false, verdict: { kind: 'failed', code: 'provider_invalid_answer' } };

/**
 * Posts a JSON body and reads a strict JSON answer of at most 64 KiB. A provider that cannot be reached, closes the
 * connection early or answers with another status than 200 is unavailable: redirects are not followed, and the body of
 * an error is ignored. Never rejects.
 */
export async function postJson(call: ProviderCall, body: unknown, signal: AbortSignal): Promise<ProviderAnswer> {
  try {
    const answer = await request(call.endpoint, {
      dispatcher: call.dispatcher,
      method: 'POST',
      headers: {
        authorization: `Bearer ${call.credential.first()}`,
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
      },
      body: JSON.stringify(body),
      signal,
    });
    if (answer.statusCode !== 200) {
      answer.body.on('error', ignore).destroy();
      return unavailable;
    }
    const bytes = await readBounded(answer.body, answerBytes);
    return bytes === undefined ? invalid : { ok: true, value: parseStrict(bytes) };
  } catch (error) {
    return error instanceof JsonError ? invalid : unavailable;
  }
}

function ignore(): void {}
