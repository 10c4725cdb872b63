import type { Answer, Fault } from '#kit/testing/faulty-proxy';

const reasons: Readonly<Record<number, string>> = { 409: 'Conflict', 500: 'InternalError', 503: 'ServiceUnavailable' };

/** An answer of an API server that failed, with a Status. */
export function statusResponse(code: number, headers: Readonly<Record<string, string>> = {}): Answer {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: reasons[code] ?? 'Unknown', code };
  return { status: code, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(status) };
}

/** The request is not forwarded, and answered with this status. */
export function refused(code: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return { kind: 'answer', answer: statusResponse(code, headers) };
}
