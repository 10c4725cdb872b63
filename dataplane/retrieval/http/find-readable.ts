import { failure } from '#api/operation';
import { isCollectionId } from '#contracts/retrieval';
import { mayRead } from '../access/permissions.ts';
import { type CollectionRecord, findCollection } from '../collections/collection-record.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

type Asked = Pick<RetrievalRequest, 'service' | 'caller'>;
type Found = { readonly kind: 'collection'; readonly collection: CollectionRecord };

/** The collection of the caller's tenant with a name or an id. */
export async function findNamed({ service, caller }: Asked, named: string): Promise<Found | RetrievalError> {
  const by = isCollectionId(named) ? { id: named.toLowerCase() } : { name: named };
  const collection = await findCollection(service.database.sql, caller.tenant, by);
  return collection === undefined ? failure('not_found') : { kind: 'collection', collection };
}

/** The collection, if the caller may read it now. */
export async function findReadable(asked: Asked, named: string): Promise<Found | RetrievalError> {
  const found = await findNamed(asked, named);
  if (found.kind === 'error') return found;
  const { service, caller } = asked;
  return (await mayRead(service.relations, caller, found.collection)) ? found : failure('forbidden');
}
