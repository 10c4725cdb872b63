import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import type { ProviderCause } from '#contracts/provider-causes';
import { connectionFault } from '#kit/http/connection-fault';
import { readBounded } from '#kit/http/read-bounded';
import { type TokenFile, TokenFileError } from '#kit/http/token-file';
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

const invalid: ProviderAnswer = { ok: false, verdict: { kind: 'failed', code: 'provider_invalid_answer' } };
/** Maximum number of bytes of an error that are searched for an unknown model, and how long they are waited for. */
const errorBytes = 8_192;
const errorMs = 500;
const unknownModelSchema = z.object({ error: z.object({ code: z.literal('model_not_found') }) });

function unavailable(cause: ProviderCause): ProviderAnswer {
  return { ok: false, verdict: { kind: 'failed', code: 'provider_unavailable', cause } };
}

/**
 * Posts a JSON body and reads a strict JSON answer of at most 64 KiB. A provider that cannot be reached, closes the
 * connection early or answers with another status than 200 is unavailable: redirects are not followed, and of the body
 * of an error only the code `model_not_found` is read. The verdict names the cause. Never rejects.
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
      const cause = await causeOfAnswer(answer);
      answer.body.on('error', ignore).destroy();
      return unavailable(cause);
    }
    const bytes = await readBounded(answer.body, answerBytes);
    return bytes === undefined ? invalid : { ok: true, value: parseStrict(bytes) };
  } catch (error) {
    if (error instanceof JsonError) return invalid;
    return unavailable(error instanceof TokenFileError ? credentialCause(error) : connectionFault(error));
  }
}

function credentialCause({ cause }: TokenFileError): ProviderCause {
  const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
  return isMissing ? 'credential_missing' : 'credential_unreadable';
}

async function causeOfAnswer({ statusCode, body }: Dispatcher.ResponseData): Promise<ProviderCause> {
  switch (statusCode) {
    case 401:
    case 403:
      return 'credential_refused';
    case 404:
      return (await isModelUnknown(body)) ? 'model_not_found' : 'not_found';
    case 429:
      return 'rate_limited';
    default:
      return 'unexpected_status';
  }
}

/** An error body that is late, long or not JSON names no unknown model. */
async function isModelUnknown(body: Dispatcher.ResponseData['body']): Promise<boolean> {
  const late = setTimeout(() => body.destroy(), errorMs);
  try {
    const bytes = await readBounded(body, errorBytes);
    return bytes !== undefined && unknownModelSchema.safeParse(parseStrict(bytes)).success;
  } catch {
    return false;
  } finally {
    clearTimeout(late);
  }
}

function ignore(): void {}
