import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OperationResource } from '#contracts/management';
import { callUrl, type HttpResponse, isTemporary, untilFinal } from '../management/call-api.ts';
import { forwardPort } from './forward-port.ts';

/** A client of a release's management API, with a token and a forwarded port. */
export type ClusterManagement = AsyncDisposable & {
  /** @param token replaces the token of the client; null sends no token */
  read(path: string, token?: string | null): Promise<HttpResponse>;
  /** Sends a command with a new idempotency key and retries with that key until a response arrives. */
  command(method: 'POST' | 'PUT', path: string, body: unknown, etag?: unknown): Promise<HttpResponse>;
  /** Waits for the operation of a 202 response. @throws when it failed */
  succeeded(accepted: HttpResponse): Promise<OperationResource>;
};

const everyMs = 200;
const patienceMs = 120_000;

/** @param service the service, in the form in which kubectl names it */
export async function openClusterManagement(
  at: { readonly kubeconfigFile: string; readonly namespace: string; readonly service: string },
  own: string,
): Promise<ClusterManagement> {
  const forward = await forwardPort(at.kubeconfigFile, at.namespace, at.service, 80);
  const read: ClusterManagement['read'] = (path, token = own) => callUrl(`${forward.url}${path}`, { token });
  return {
    read,
    async command(method, path, body, etag) {
      const headers = {
        'idempotency-key': `key-${randomUUID()}`,
        ...(etag === undefined ? {} : { 'if-match': `${etag}` }),
      };
      for (const deadline = performance.now() + patienceMs; ; ) {
        const answer = await callUrl(`${forward.url}${path}`, { method, headers, body, token: own }).catch(
          () => undefined,
        );
        if (answer !== undefined && !isTemporary(answer)) return answer;
        if (performance.now() > deadline) throw new Error(`${method} ${path}: ${answer?.text ?? 'no answer'}`);
        await pause(everyMs);
      }
    },
    async succeeded(accepted) {
      if (accepted.status !== 202) throw new Error(`not accepted: ${accepted.status} ${accepted.text}`);
      const operation = await untilFinal((path) => read(path), accepted.json.operationId, patienceMs);
      if (operation.state !== 'succeeded') throw new Error(JSON.stringify(operation));
      return operation;
    },
    [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose](),
  };
}
