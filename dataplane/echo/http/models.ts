import type { ServerResponse } from 'node:http';
import { sendJson } from '#kit/http/json-answer';

/** GET /v1/models: one model; the provider accepts every model name. */
export function models(outgoing: ServerResponse, created: number): void {
  sendJson(outgoing, 200, { object: 'list', data: [{ id: 'echo', object: 'model', created, owned_by: 'portcullis' }] });
}
