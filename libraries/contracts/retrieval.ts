import { z } from 'zod';

/** Limits of the retrieval service; those that the contract names are its numbers, all others are the service's own. */
export const retrievalLimits = {
  /** Body of a submit or an evaluation, bytes. */
  bodyBytes: 16 * 1_024 * 1_024,
  /** Body of any other request, bytes. */
  smallBodyBytes: 1_024 * 1_024,
  documentsOfSubmit: 200,
  /** Maximum number of highlighted words of one citation. */
  highlights: 100,
  /** Maximum number of sections, and of tables, of one document. */
  sections: 10_000,
  tables: 1_000,
  /** Maximum size of the inline content and metadata of one document as JSON, bytes. */
  inlineBytes: 4 * 1_024 * 1_024,
  metadataBytes: 65_536,
  /** Maximum number of UTF-16 units of one document's stored text: title, headings, lines and line ends. */
  textUnits: 16 * 1_024 * 1_024,
  /** Maximum length of a name, UTF-16 units. */
  name: 255,
  description: 4_096,
  /**
   * Maximum number of bytes in UTF-8: a row of a PostgreSQL index has at most 2,704 bytes, and contains both keys of a
   * job.
   */
  docIdBytes: 1_024,
  keyBytes: 1_024,
  principal: 512,
  principals: 200,
  queryText: 8_192,
  uri: 4_096,
  topK: { min: 1, max: 100, default: 8 },
  tokenBudget: { min: 1, max: 200_000 },
  chunkSize: { min: 100, max: 8_000, default: 800 },
  chunkOverlap: { min: 0, default: 120 },
} as const;

const limits = retrievalLimits;
/** PostgreSQL stores no U+0000. */
export const storableString = z.string().regex(/^[^\u0000]*$/, { error: 'must not contain U+0000' });
const text = (max: number) => storableString.min(1).max(max);

/** Whether a text has at least 1 byte and at most `max` bytes in UTF-8. */
export function fitsBytes(text: string, max: number): boolean {
  return text.length > 0 && Buffer.byteLength(text) <= max;
}

/**
 * A text that fits into an index of PostgreSQL. JSON Schema can only limit the number of characters, which is never
 * greater than the number of bytes.
 */
function indexedText(maxBytes: number) {
  return storableString
    .min(1)
    .refine((value) => fitsBytes(value, maxBytes), {
      error: `must have at most ${maxBytes} bytes in UTF-8`,
      abort: true,
    })
    .meta({ maxLength: maxBytes });
}

export const docIdSchema = indexedText(limits.docIdBytes);
const key = indexedText(limits.keyBytes);
export const retrievalModeSchema = z.enum(['hybrid', 'vector', 'bm25']);
const mode = retrievalModeSchema;
const topK = z.int().min(limits.topK.min).max(limits.topK.max);
const firstInstant = Date.parse('0001-01-01T00:00:00Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');
/** The year has four digits, as written and in UTC; the year 0 exists in ISO 8601 but not in PostgreSQL. */
const instant = z.iso
  .datetime({ offset: true })
  .refine(
    (text) => !text.startsWith('0000') && !(Date.parse(text) < firstInstant) && !(Date.parse(text) > lastInstant),
    {
      error: 'must be a time in the years 1 to 9999 of UTC',
    },
  );
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const id = z
  .string()
  .regex(uuidForm)
  .transform((value) => value.toLowerCase())
  .meta({ type: 'string', format: 'uuid' });

export function isCollectionId(value: string): boolean {
  return uuidForm.test(value);
}

const collectionName = text(limits.name)
  .refine((name) => !uuidForm.test(name), { error: 'must not have the form of a UUID' })
  .describe('Unique in the tenant. A name in the form of a UUID is refused, because a collection is named by either.');

const chunking = z
  .strictObject({
    strategy: z.literal('recursive_text').default('recursive_text'),
    size: z.int().min(limits.chunkSize.min).max(limits.chunkSize.max).default(limits.chunkSize.default),
    overlap: z.int().min(limits.chunkOverlap.min).default(limits.chunkOverlap.default),
  })
  .refine(({ size, overlap }) => overlap * 2 <= size, { path: ['overlap'], error: 'must be at most half of size' })
  .describe('Sizes in characters.');

const retrievalDefaults = z.strictObject({
  mode: mode.optional(),
  top_k: topK.optional(),
  rerank_profile_id: text(limits.name).optional(),
});

/** Body of POST /v1/collections (retrieval:collections-create:*). */
export const createCollectionSchema = z
  .strictObject({
    collection_id: id.optional(),
    name: collectionName,
    description: storableString.max(limits.description).default(''),
    collection_type: z.enum(['knowledge_base', 'documents', 'files']).default('knowledge_base'),
    parent_id: id.optional(),
    visibility: z.enum(['private', 'public']).default('private'),
    embedding_profile_id: text(limits.name),
    acl_model: z.enum(['document', 'collection']).default('document'),
    chunking: chunking.prefault({}),
    retrieval_defaults: retrievalDefaults.default({}),
    empty_acl_policy: z.enum(['reject', 'strictest']).optional(),
  })
  .describe('A new collection.');

/** Body of PATCH /v1/collections/{collection_id}, the service's own. */
export const updateCollectionSchema = z
  .strictObject({
    name: collectionName.optional(),
    description: storableString.max(limits.description).optional(),
    visibility: z.enum(['private', 'public']).optional(),
    retrieval_defaults: retrievalDefaults.optional().describe('Replaces all defaults.'),
    empty_acl_policy: z.enum(['reject', 'strictest']).optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'must name at least one member',
  })
  .describe('A change of a collection. Profile and parent have operations of their own; other members do not change.');

/** A collection as the service returns it (retrieval:collection:*). */
export const collectionSchema = z
  .strictObject({
    collection_id: z.uuid(),
    tenant_id: z.string(),
    name: z.string(),
    description: z.string(),
    collection_type: z.enum(['knowledge_base', 'documents', 'files']),
    parent_id: z.uuid().nullable(),
    visibility: z.enum(['private', 'public']),
    embedding_profile_id: z.string(),
    acl_model: z.enum(['document', 'collection']),
    chunking: z.strictObject({ strategy: z.literal('recursive_text'), size: z.int(), overlap: z.int() }),
    retrieval_defaults: z.strictObject({
      mode,
      top_k: z.int(),
      rerank_profile_id: z.string().nullable(),
    }),
    empty_acl_policy: z.enum(['reject', 'strictest']),
    status: z.enum(['created', 'populating', 'ready', 'deleted', 'error']),
    active_version: z.int(),
    doc_count: z.int(),
    chunk_count: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    reindex: z
      .strictObject({
        version: z.int(),
        embedding_profile_id: z.string(),
        state: z.enum(['building', 'failed']),
        documents_total: z.int(),
        documents_done: z.int(),
        failure: z.string().nullable(),
      })
      .optional()
      .describe('The newest version while it is being built, or if it failed; absent once it is active.'),
  })
  .describe('A collection: documents that are searched together.');

const section = z.strictObject({ text: z.string(), heading: z.string().optional() });
const content = z.looseObject({
  title: z.string().optional(),
  sections: z.array(section).max(limits.sections).optional(),
  tables: z.array(z.looseObject({})).max(limits.tables).optional(),
});
const contentRef = z.strictObject({
  uri: text(limits.uri).refine((uri) => /^(s3|https):\/\/[^/]/i.test(uri), {
    error: 'must be an s3 or https address',
  }),
  content_hash: z
    .string()
    .regex(/^(?:sha256:)?[0-9a-fA-F]{64}$/, { error: 'must be the SHA-256 of the bytes: 64 hexadecimal digits' })
    .describe('SHA-256 of the bytes behind the address: 64 hexadecimal digits, which sha256: may precede.'),
  bytes: z.int().min(1).optional(),
});
/** RFC 3986, and other letters as RFC 3987 allows them. `URL` takes brackets and removes control characters at the ends. */
const uriForm = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}<>"{}|\\^`]+$/u;
const uri = z
  .string()
  .max(limits.uri)
  .refine((text) => uriForm.test(text) && URL.canParse(text), { error: 'must be a URL' })
  .meta({ format: 'uri' });
/**
 * The metadata of one document has no room for more labels. This limit is not in the OpenAPI document; it avoids one
 * problem per label of a very long list.
 */
const labels = z
  .array(z.string())
  .max(Math.floor(limits.metadataBytes / 3))
  .meta({ maxItems: undefined });
const metadata = z.looseObject({
  source: z.string().optional(),
  url: uri.optional(),
  labels: labels.optional(),
  valid_from: instant.optional(),
  valid_until: instant.optional(),
});
export const aclSchema = z.strictObject({
  groups: z.array(text(limits.principal)).max(limits.principals).optional(),
  principals: z.array(text(limits.principal)).max(limits.principals).optional(),
  scope: z.looseObject({}).optional(),
});

/** One document of a submit (retrieval:document:*, retrieval:content:*, retrieval:content-ref:*). */
const canonicalDocumentSchema = z
  .strictObject({
    op: z.enum(['upsert', 'delete']).default('upsert'),
    collection: text(limits.name),
    tenant_id: text(limits.name),
    doc_id: docIdSchema,
    content: content.optional(),
    content_ref: contentRef.optional(),
    metadata: metadata.optional(),
    acl: aclSchema.optional(),
    content_hash: key,
    idempotency_key: key,
  })
  .check((context) => {
    const { op, content: inline, content_ref: ref, content_hash: hash } = context.value;
    const problem = (path: string, message: string): void => {
      context.issues.push({ code: 'custom', path: path.split('.'), message, input: context.value });
    };
    if (op === 'upsert' && inline === undefined && ref === undefined) problem('content', 'is required for an upsert');
    if (ref !== undefined && ref.content_hash !== hash) {
      problem('content_ref.content_hash', 'must equal content_hash of the document');
    }
    if (ref !== undefined && (inline?.sections !== undefined || inline?.tables !== undefined)) {
      problem('content_ref', 'cannot be combined with sections or tables');
    }
  })
  .describe('A normalized document of a source.');

/** Body of POST /v1/documents:submit (retrieval:submit:*). */
export const submitSchema = z
  .strictObject({ documents: z.array(canonicalDocumentSchema).min(1).max(limits.documentsOfSubmit) })
  .describe('A batch that is accepted as a whole or not at all.');

/** The entry of one document in the answer of a submit. */
export const submittedJobSchema = z
  .strictObject({
    doc_id: z.string(),
    job_id: z.uuid(),
    status: z.enum(['PENDING', 'DEDUPLICATED']),
    superseded: z
      .literal(true)
      .optional()
      .describe(
        'Only with DEDUPLICATED: a later submit of the document was accepted after this job, and decides its text and its ' +
          'readers. Another idempotency_key submits the document again.',
      ),
  })
  .describe('The job of one document.');

/** The answer of a submit: one entry for each document, in the order of the documents. */
export const submittedSchema = z.strictObject({ jobs: z.array(submittedJobSchema) }).describe('The jobs of a batch.');

/** A job (retrieval:job:*). */
export const ingestJobSchema = z
  .strictObject({
    job_id: z.uuid(),
    collection: z.string(),
    tenant_id: z.string(),
    doc_id: z.string(),
    op: z.enum(['upsert', 'delete']),
    content_hash: z.string(),
    idempotency_key: z.string(),
    status: z.enum(['PENDING', 'RUNNING', 'DONE', 'FAILED']),
    payload_uri: z.string().nullable(),
    payload_bytes: z.int().nullable(),
    attempts: z.int(),
    error: z.string().nullable(),
    trace_id: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    available_at: z.iso.datetime().nullable(),
  })
  .describe('How far the ingestion of one document is.');

const query = {
  collection: text(limits.name),
  text: text(limits.queryText),
  mode: mode.optional(),
  top_k: topK.optional(),
  rerank: z.boolean().default(false),
  rewrite: z.boolean().default(false),
  highlight: z
    .boolean()
    .default(false)
    .describe('Whether each citation names the words of its content that the query has, in any of their forms.'),
  filters: z
    .looseObject({})
    .optional()
    .describe(
      'A condition that every document of the answer fulfils: {path, op, value} with op eq, ne, gte, lte, contains or in, ' +
        'or {and: […]}, {or: […]}, {not: …}, nested at most 8 deep with at most 128 parts. A path is doc_id or leads into ' +
        'the metadata, such as metadata.source.',
    ),
};

/** Body of POST /v1/query (retrieval:query-request:*). */
export const queryRequestSchema = z.strictObject(query).describe('A search in one collection.');

/** Body of POST /v1/retrieve_and_pack (retrieval:pack-request:*). */
export const packRequestSchema = z
  .strictObject({ ...query, token_budget: z.int().min(limits.tokenBudget.min).max(limits.tokenBudget.max) })
  .describe('A search whose result is packed into a number of tokens.');

const citation = z.strictObject({
  doc_id: z.string(),
  chunk_id: z.string(),
  source_url: z.string().nullable(),
  title: z.string().nullable(),
  content: z.string(),
  score: z.number(),
  heading: z.string().nullable(),
  page: z.int().nullable(),
  start: z.int().describe('Where the chunk begins in the stored text, in UTF-16 units.'),
  end: z.int(),
  highlights: z
    .array(z.strictObject({ start: z.int(), end: z.int() }))
    .optional()
    .describe(
      `The first ${limits.highlights} words of content that the query has, as offsets into content in UTF-16 units; only ` +
        'where the request asks for them. A citation that was found by its meaning may have none.',
    ),
});

const queryMeta = z.strictObject({
  mode,
  top_k: z.int(),
  rerank: z.boolean(),
  hybrid_weights: z.strictObject({ vector: z.number(), bm25: z.number() }),
  trace_id: z.string(),
});

/** Answer of POST /v1/query (retrieval:query-response:*). */
export const queryResponseSchema = z.strictObject({ items: z.array(citation), meta: queryMeta }).describe('Citations.');

/** Answer of POST /v1/retrieve_and_pack (retrieval:packed-context:*). */
export const packedContextSchema = z
  .strictObject({
    packed_context: z.string(),
    token_count: z.int(),
    mode: z.enum(['full_document', 'relevance_search']),
    items: z.array(citation),
    meta: queryMeta,
  })
  .describe('A text within the budget, and the citations that it was made of.');

/** The body of a reindex; without a profile the index is rebuilt with the present profile. */
export const reindexSchema = z
  .strictObject({ embedding_profile_id: text(limits.name).optional() })
  .describe('A new index version.');

const state = z.enum(['ok', 'degraded']);

/** Answer of GET /health (retrieval:health:*). */
export const healthSchema = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    components: z.strictObject({ postgres: state, rabbitmq: state, s3: state, opensearch: state }),
    details: z.record(z.string(), z.string()),
  })
  .describe('Whether the dependencies of the service answer.');

/** The body of every error (retrieval:error:*). */
export const retrievalErrorSchema = z
  .strictObject({ code: z.string(), message: z.string(), trace_id: z.string() })
  .describe('An error.');

export type CreateCollection = z.output<typeof createCollectionSchema>;
export type UpdateCollection = z.output<typeof updateCollectionSchema>;
export type Collection = z.output<typeof collectionSchema>;
export type CanonicalDocument = z.output<typeof canonicalDocumentSchema>;
export type IngestJob = z.output<typeof ingestJobSchema>;
export type QueryRequest = z.output<typeof queryRequestSchema>;
export type Citation = z.output<typeof citation>;
export type QueryMeta = z.output<typeof queryMeta>;
export type Health = z.output<typeof healthSchema>;
export type RetrievalMode = z.output<typeof mode>;
