import { request } from 'node:http';
import type { OperationResource } from '#contracts/management';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { until } from '#kit/testing/until';

/** An answer of the API. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** The body as JSON; undefined if the body is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>;
};

export type CallOptions = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body, which is sent as JSON; a Buffer is sent unchanged. */
  readonly body?: unknown;
  /** The token to send; that of the administrator when absent, no token when null. */
  readonly token?: string | null;
};

/** Sends one request to a process. A header with several values is sent repeatedly. */
export function callUrl(url: string, options: CallOptions & { readonly token: string | null }): Promise<HttpResponse> {
  const { method = 'GET', body, token } = options;
  const bytes = body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const headers: Record<string, string | string[]> = {};
  if (token !== null) headers['authorization'] = `Bearer ${token}`;
  if (bytes !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = String(bytes.length);
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === undefined) delete headers[name];
    else headers[name] = typeof value === 'string' ? value : [...value];
  }
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers }, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: jsonOrUndefined(text) });
      });
    });
    call.on('error', reject);
    call.end(bytes);
  });
}

/** A command to a process that authorizes every request. */
export function sendCommand(
  url: string,
  method: 'POST' | 'PUT',
  { key, etag, body }: { readonly key: string; readonly etag?: string | undefined; readonly body: unknown },
): Promise<HttpResponse> {
  return callUrl(url, { method, token: null, headers: { 'idempotency-key': key, 'if-match': etag }, body });
}

/** Whether the answer tells the client to repeat the command with the same key. */
export function isTemporary({ status, json }: HttpResponse): boolean {
  return status === 503 || json?.error?.code === 'idempotency_in_progress';
}

/** Repeats a command until its answer is final. */
export function untilAnswered(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  return until(
    'the outcome of the command is known',
    async () => {
      const answer = await send();
      if (isTemporary(answer)) throw new Error(`${answer.status} ${answer.text}`);
      return answer;
    },
    { everyMs: 100 },
  );
}

/** Waits until an operation is final and returns it. */
export function untilFinal(
  call: (path: string) => Promise<HttpResponse>,
  operationId: string,
  deadlineMs = 300_000,
): Promise<OperationResource> {
  return until(
    `the operation ${operationId} is final`,
    async () => {
      const answer = await call(`/api/v1/operations/${operationId}`);
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
      const operation = answer.json as OperationResource;
      return operation.state === 'succeeded' || operation.state === 'failed' ? operation : undefined;
    },
    { deadlineMs, everyMs: 25 },
  );
}
