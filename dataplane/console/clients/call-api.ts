import { readBounded } from '#kit/http/read-bounded';

/** The answer of an API: a value, a refusal with the code and message of the API, or no answer. */
export type ApiAnswer<T> =
  | { readonly kind: 'value'; readonly value: T; readonly etag: string | undefined }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string;
      readonly message: string;
      /** The API does not take the token, or the name, of a person whose session has not ended. */
      readonly isUnaccepted?: boolean;
    }
  | { readonly kind: 'away' };

export type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

const usualTimeoutMs = 15_000;
const mostBytes = 8_388_608;

/**
 * Sends one request for JSON, without redirects. Never throws: an answer that is too large, not JSON or rejected by
 * `read` counts as no answer.
 */
export async function callApi<T>(url: URL, call: Call, read: (value: unknown) => T | undefined): Promise<ApiAnswer<T>> {
  const { method = 'GET', headers, body, timeoutMs = usualTimeoutMs, signal } = call;
  try {
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers, ...(body === undefined ? {} : jsonType) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    const bytes = response.body === null ? Buffer.alloc(0) : await readBounded(response.body, mostBytes);
    if (bytes === undefined) return { kind: 'away' };
    const text = bytes.toString('utf8');
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) return { kind: 'refused', status: response.status, ...refusalOf(parsed) };
    const value = read(parsed);
    if (value === undefined) return { kind: 'away' };
    return { kind: 'value', value, etag: response.headers.get('etag') ?? undefined };
  } catch {
    return { kind: 'away' };
  }
}

const jsonType = { 'content-type': 'application/json' };
const mostMessage = 2_000;
/** The separator between the sentence of a refusal and its places. */
export const betweenPlaces = ' · ';

/** The members of an error body; the services nest them below `error` or not. */
function refusalOf(parsed: unknown): { readonly code: string; readonly message: string } {
  const outer = isRecord(parsed) ? parsed : {};
  const error = isRecord(outer['error']) ? outer['error'] : outer;
  const details = Array.isArray(error['details']) ? error['details'] : [];
  const places = details
    .flatMap((detail) => (isRecord(detail) && detail['domain'] !== 'portcullis' ? [placeOf(detail)] : []))
    .filter((one) => one !== '');
  const message = [textOf(error['message']), ...places].filter((one) => one !== '').join(betweenPlaces);
  return { code: textOf(error['code']) || reasonOf(details) || 'error', message: message.slice(0, mostMessage) };
}

/** The stable code in a body of A2A, whose `code` is the status. */
function reasonOf(details: readonly unknown[]): string {
  const info = details.find((one) => isRecord(one) && one['domain'] === 'portcullis');
  return isRecord(info) ? textOf(info['reason']) : '';
}

function placeOf(detail: Readonly<Record<string, unknown>>): string {
  const where = textOf(detail['field']) || textOf(detail['path']) || textOf(detail['pointer']);
  const what = textOf(detail['message']) || textOf(detail['reason']) || textOf(detail['issue']);
  return [where, what].filter((one) => one !== '').join(': ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
