import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from '#kit/http/json-answer';
import { headerValues } from '#kit/http/raw-headers';
import { drainRefused, readBody } from '#kit/http/read-body';
import { openTrace } from '#kit/http/trace-context';
import { describeFailure } from '#kit/log/describe-failure';
import { exchangeToken } from '../exchange/exchange-token.ts';
import { readExchange } from '../exchange/read-exchange.ts';
import type { AgentPlane } from './agent-plane.ts';

export const tokenPath = '/token';
export const keySetPath = '/.well-known/jwks.json';

/** Largest form of an exchange, bytes: a grant has at most 8,192 characters. */
const maxFormBytes = 16_384;
const receiveMs = 10_000;
const formTypes = /^application\/x-www-form-urlencoded\s*(?:;\s*charset="?utf-8"?\s*)?$/i;
const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

/** POST /token: exchanges the grant of a run for a token of one audience (RFC 8693). Never rejects. */
export async function serveToken(
  plane: AgentPlane,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const trace = openTrace(incoming.headers['traceparent'], plane.spans.isRecording);
  const endSpan = plane.spans.begin(trace, { name: 'gateway token exchange', kind: 'server' });
  const ended = (code: string): void => {
    plane.metrics.exchanged(code);
    endSpan({ attributes: { 'portcullis.code': code }, failed: code !== 'issued' });
  };
  const refuse = (error: string, why: string): void => {
    if (!incoming.complete) drainRefused(incoming, outgoing);
    ended(error);
    const later = laterOf(plane, error);
    const answer = { error: later === undefined ? error : 'temporarily_unavailable', error_description: why };
    const headers = later === undefined ? noStore : { ...noStore, 'retry-after': String(later.seconds) };
    sendJson(outgoing, later?.status ?? 400, answer, headers);
  };
  if (incoming.method !== 'POST') {
    if (!incoming.complete) drainRefused(incoming, outgoing);
    return sendJson(outgoing, 405, { error: 'invalid_request' }, { ...noStore, allow: 'POST' });
  }
  const [type, ...more] = headerValues(incoming.rawHeaders, 'content-type');
  if (type === undefined || more.length > 0 || !formTypes.test(type.trim())) {
    return refuse('invalid_request', 'send application/x-www-form-urlencoded');
  }
  const body = await readBody(incoming, { limit: maxFormBytes, ms: receiveMs });
  if (outgoing.destroyed) return;
  if (!body.ok) return refuse('invalid_request', 'the form is too large or did not arrive in time');
  const read = readExchange(body.bytes.toString('utf8'));
  if (read.kind === 'error') return refuse(read.error, read.why);
  try {
    const result = await exchangeToken(plane, read);
    if (result.kind === 'error') return refuse(result.error, result.why);
    ended('issued');
    const { token, expiresIn } = result;
    const answer = { access_token: token, issued_token_type: accessToken, token_type: 'Bearer', expires_in: expiresIn };
    sendJson(outgoing, 200, answer, noStore);
  } catch (error) {
    plane.logger.error('token_exchange_failed', { failure: describeFailure(error) });
    refuse('temporarily_unavailable', 'the exchange failed');
  }
}

/**
 * The status of an error after which the same request may succeed, and when; RFC 6749 defines no error for a rate
 * limit.
 */
function laterOf({ callers }: Pick<AgentPlane, 'callers'>, error: string) {
  if (error === 'rate_limited') return { status: 429, seconds: callers.retryAfterSeconds };
  return error === 'temporarily_unavailable' ? { status: 503, seconds: 1 } : undefined;
}

/** GET /.well-known/jwks.json: the public keys of the tokens of this gateway (RFC 7517). Never rejects. */
export async function serveKeySet(
  plane: AgentPlane,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (incoming.method !== 'GET' && incoming.method !== 'HEAD') {
    if (!incoming.complete) drainRefused(incoming, outgoing);
    return sendJson(outgoing, 405, { error: 'invalid_request' }, { allow: 'GET, HEAD' });
  }
  try {
    // A key is published 60 s before it signs; caches must not hold the older set for longer than half of that.
    sendJson(outgoing, 200, await plane.keys.publicKeySet(), { 'cache-control': 'public, max-age=15' });
  } catch (error) {
    plane.logger.error('keys_unreadable', { failure: describeFailure(error) });
    sendJson(outgoing, 503, { error: 'temporarily_unavailable' }, { ...noStore, 'retry-after': '1' });
  }
}
