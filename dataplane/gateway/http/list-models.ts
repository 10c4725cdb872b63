import { plainError } from '../relay/client-error.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';

/** GET /v1/models: the aliases that this replica serves and the client may call. */
export function listModels(context: RequestContext): ClientResponse {
  const data = servedRoutes(context)
    .map(modelOf)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return jsonResponse({ object: 'list', data });
}

/**
 * Answers GET /v1/models/{model} with one model. A model that the client may not call is answered like a model that
 * does not exist.
 */
export function getModel(context: RequestContext, alias: string): ClientResponse {
  const route = servedRoutes(context).find(({ spec }) => spec.alias === alias);
  return route === undefined ? errorResponse(plainError('model_not_found', 'model')) : jsonResponse(modelOf(route));
}

function servedRoutes({ gateway, aliases }: RequestContext): readonly TakenRoute[] {
  return gateway.table
    .state()
    .taken.filter(({ spec }) => aliases?.has(spec.alias) !== false)
    .filter(({ spec }) => gateway.table.lookup(spec.alias).kind === 'route');
}

function modelOf({ spec, created }: TakenRoute) {
  return { id: spec.alias, object: 'model', created, owned_by: 'portcullis' };
}

function jsonResponse(value: object): ClientResponse {
  return { kind: 'json', bytes: Buffer.from(JSON.stringify(value)), masked: false };
}
