import type { ClientResponse, RequestContext } from './request-context.ts';

/** GET /v1/models: the aliases that this replica serves and the client may call. */
export function listModels({ gateway, aliases }: RequestContext): ClientResponse {
  const data = gateway.table
    .state()
    .taken.filter(({ spec }) => aliases?.has(spec.alias) !== false)
    .filter(({ spec }) => gateway.table.lookup(spec.alias).kind === 'route')
    .map(({ spec, created }) => ({ id: spec.alias, object: 'model', created, owned_by: 'portcullis' }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { kind: 'json', bytes: Buffer.from(JSON.stringify({ object: 'list', data })), masked: false };
}
