import { z } from 'zod';
import {
  collectionSchema,
  type createCollectionSchema,
  type IngestJob,
  ingestJobSchema,
  packedContextSchema,
  type packRequestSchema,
  type queryRequestSchema,
  queryResponseSchema,
  type submitSchema,
  submittedJobSchema,
  submittedSchema,
  type updateCollectionSchema,
} from '#contracts/retrieval';
import { documentListSchema, jobListSchema, listLimits, type StoredDocument } from '#contracts/retrieval-documents';
import { type evaluationRequestSchema, evaluationSchema } from '#contracts/retrieval-evaluation';
import {
  changedAclSchema,
  changedGrantSchema,
  type collectionGrantSchema,
  type documentAclSchema,
  grantListSchema,
  type Holder,
  memberListSchema,
} from '#contracts/retrieval-grants';
import { createServiceCalls, type ServiceConnection } from '../http/service-calls.ts';

export type StoredCollection = z.output<typeof collectionSchema>;
type Submitted = z.output<typeof submittedSchema>;
type DeletionJob = z.output<typeof submittedJobSchema>;
type Page<T> = { readonly items: readonly T[]; readonly next_page_token: string | null };
type QueryResponse = z.output<typeof queryResponseSchema>;
type PackedContext = z.output<typeof packedContextSchema>;
export type DocumentInput = z.input<typeof submitSchema>['documents'][number];
type CollectionChange = z.input<typeof updateCollectionSchema>;
type GrantInput = z.input<typeof collectionGrantSchema>;
type ChangedGrant = z.output<typeof changedGrantSchema>;
type NewCollection = z.input<typeof createCollectionSchema>;
export type Search = z.input<typeof queryRequestSchema>;
export type Evaluation = z.output<typeof evaluationSchema>;
export type EvaluationInput = z.input<typeof evaluationRequestSchema>;
type PackedSearch = z.input<typeof packRequestSchema>;

/**
 * The retrieval service, one method for each route. Every answer is validated. All methods throw ServiceApiError,
 * ServiceUnreachableError and ServiceAnswerError.
 */
export type RetrievalClient = {
  createCollection(collection: NewCollection): Promise<StoredCollection>;
  /** All collections that the caller may read, in the order of their names. */
  listCollections(): Promise<readonly StoredCollection[]>;
  getCollection(collectionId: string): Promise<StoredCollection>;
  updateCollection(collectionId: string, change: CollectionChange): Promise<StoredCollection>;
  deleteCollection(collectionId: string): Promise<StoredCollection>;
  listGrants(collectionId: string): Promise<z.output<typeof grantListSchema>>;
  changeGrant(collectionId: string, verb: 'grant' | 'revoke', grant: GrantInput): Promise<ChangedGrant>;
  /** @param parent the id of the new parent, or null for the top level */
  moveCollection(collectionId: string, parent: string | null): Promise<StoredCollection>;
  listMembers(group: string): Promise<z.output<typeof memberListSchema>>;
  changeMember(group: string, verb: 'add' | 'remove', member: Holder): Promise<ChangedGrant>;
  changeDocumentAcl(change: z.input<typeof documentAclSchema>): Promise<z.output<typeof changedAclSchema>>;
  reindexCollection(collectionId: string, profile: string | undefined): Promise<StoredCollection>;
  submit(documents: readonly DocumentInput[]): Promise<Submitted>;
  getJob(jobId: string): Promise<IngestJob>;
  replayJob(jobId: string): Promise<IngestJob>;
  /** The newest jobs of a collection. */
  listJobs(collection: string, state: string | undefined, most: number): Promise<readonly IngestJob[]>;
  /** The documents that the caller may see, in the order of their ids; all without a number. */
  listDocuments(collectionId: string, most?: number): Promise<readonly StoredDocument[]>;
  deleteDocument(collectionId: string, docId: string): Promise<DeletionJob>;
  query(search: Search): Promise<QueryResponse>;
  retrieveAndPack(search: PackedSearch): Promise<PackedContext>;
  evaluate(evaluation: EvaluationInput): Promise<Evaluation>;
};

export function createRetrievalClient(connection: Omit<ServiceConnection, 'service'>): RetrievalClient {
  // Every request can be retried: because of the idempotency keys of its documents, a repeated submit is a duplicate.
  const send = createServiceCalls({ ...connection, service: 'retrieval' });
  const collections = '/v1/collections';
  const members = (group: string): string => `/v1/groups/${encodeURIComponent(group)}/members`;
  const documents = (id: string): string => `${collections}/${encodeURIComponent(id)}/documents`;
  async function pages<T>(path: string, schema: z.ZodType<Page<T>>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
    const items: T[] = [];
    for (let token: string | null = ''; token !== null && items.length < most; ) {
      const query: string = token === '' ? '' : `&page_token=${encodeURIComponent(token)}`;
      const page: Page<T> = await send('GET', `${path}${query}`, schema);
      items.push(...page.items);
      token = page.next_page_token;
    }
    return items.slice(0, most);
  }
  async function allCollections(): Promise<StoredCollection[]> {
    const found: StoredCollection[] = [];
    const { max: limit } = listLimits.page;
    for (let isLast = false; !isLast; ) {
      const after = found.at(-1)?.name;
      const query = new URLSearchParams({ limit: String(limit), ...(after === undefined ? {} : { after }) });
      const page = await send('GET', `${collections}?${query}`, z.array(collectionSchema));
      found.push(...page);
      isLast = page.length < limit;
    }
    return found;
  }
  return {
    createCollection: (collection) => send('POST', collections, collectionSchema, collection),
    listCollections: allCollections,
    getCollection: (id) => send('GET', `${collections}/${encodeURIComponent(id)}`, collectionSchema),
    updateCollection: (id, change) =>
      send('PATCH', `${collections}/${encodeURIComponent(id)}`, collectionSchema, change),
    deleteCollection: (id) => send('DELETE', `${collections}/${encodeURIComponent(id)}`, collectionSchema),
    listGrants: (id) => send('GET', `${collections}/${encodeURIComponent(id)}/grants`, grantListSchema),
    changeGrant: (id, verb, grant) =>
      send(
        'POST',
        `${collections}/${encodeURIComponent(id)}/grants${verb === 'revoke' ? ':revoke' : ''}`,
        changedGrantSchema,
        grant,
      ),
    moveCollection: (id, parent) =>
      send('POST', `${collections}/${encodeURIComponent(id)}:move`, collectionSchema, { parent_id: parent }),
    listMembers: (group) => send('GET', members(group), memberListSchema),
    changeMember: (group, verb, member) =>
      send('POST', `${members(group)}${verb === 'remove' ? ':remove' : ''}`, changedGrantSchema, member),
    changeDocumentAcl: (change) => send('POST', '/v1/documents:acl', changedAclSchema, change),
    reindexCollection: (id, profile) =>
      send('POST', `${collections}/${encodeURIComponent(id)}:reindex`, collectionSchema, {
        ...(profile === undefined ? {} : { embedding_profile_id: profile }),
      }),
    submit: (documents) => send('POST', '/v1/documents:submit', submittedSchema, { documents }),
    getJob: (jobId) => send('GET', `/v1/jobs/${encodeURIComponent(jobId)}`, ingestJobSchema),
    replayJob: (jobId) => send('POST', `/v1/jobs/${encodeURIComponent(jobId)}:replay`, ingestJobSchema),
    listJobs: (collection, state, most) => {
      const query = new URLSearchParams({ collection, limit: String(Math.min(most, listLimits.page.max)) });
      if (state !== undefined) query.set('state', state);
      return pages(`/v1/jobs?${query}`, jobListSchema, most);
    },
    listDocuments: (id, most) => pages(`${documents(id)}?limit=${listLimits.page.max}`, documentListSchema, most),
    deleteDocument: (id, docId) => send('DELETE', `${documents(id)}/${encodeURIComponent(docId)}`, submittedJobSchema),
    query: (search) => send('POST', '/v1/query', queryResponseSchema, search),
    evaluate: (evaluation) => send('POST', '/v1/evaluations', evaluationSchema, evaluation),
    retrieveAndPack: (search) => send('POST', '/v1/retrieve_and_pack', packedContextSchema, search),
  };
}
