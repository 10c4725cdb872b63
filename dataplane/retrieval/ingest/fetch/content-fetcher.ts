import { createAddressRules } from '#kit/net/address-rules';
import { readObject } from '#objects/adapters/s3/read-object';
import type { S3Client } from '#objects/adapters/s3/s3-client';
import { ObjectsUnavailableError, ObjectTooLargeError } from '#objects/objects-error';
import { DependencyUnavailableError, DocumentFault } from '../faults.ts';
import type { ContentFetcher, FetchOptions } from '../ports.ts';
import type { ContentSources } from './content-sources.ts';
import { createHttpsFetch, type HttpsOptions } from './fetch-https.ts';
import { isBelow, parseS3Address, type S3Address } from './s3-address.ts';

type ContentFetcherOptions = {
  /** The currently approved sources. */
  readonly sources: () => ContentSources;
  /** Reads the approved folders; undefined if S3 is not configured. The caller disposes it. */
  readonly s3?: S3Client;
  /** The staging folder of this service, if it is in S3: a content_ref must not refer to this folder. */
  readonly staging?: S3Address;
  readonly https?: Omit<HttpsOptions, 'mayConnect'>;
};

/**
 * Reads the content that a content_ref names (`retrieval:content-ref:uri-s3`,
 * `retrieval:content-ref:uri-https-presigned`).
 */
export function createContentFetcher(options: ContentFetcherOptions): ContentFetcher & AsyncDisposable {
  /** Fetches in progress. Each has its own client, which connects only to the networks of its tenant. */
  const running = new Set<AsyncDisposable>();

  async function fetchHttps(tenant: string, uri: string, limits: FetchOptions): Promise<Uint8Array> {
    const mayConnect = (address: string): boolean => createAddressRules(networksOf(options.sources(), tenant))(address);
    await using https = createHttpsFetch({ ...options.https, mayConnect });
    running.add(https);
    try {
      return await https.fetch(uri, limits);
    } finally {
      running.delete(https);
    }
  }

  return {
    fetch: ({ tenant }, uri, limits) =>
      /^s3:/i.test(uri) ? fetchS3(options, tenant, uri, limits) : fetchHttps(tenant, uri, limits),
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((https) => https[Symbol.asyncDispose]()));
    },
  };
}

function networksOf({ allowedNetworks, tenantNetworks }: ContentSources, tenant: string) {
  return [...allowedNetworks, ...ownOf(tenantNetworks, tenant)];
}

/** The entries of a tenant, without members of the object's prototype. */
function ownOf<T>(byTenant: Readonly<Record<string, readonly T[]>>, tenant: string): readonly T[] {
  return Object.hasOwn(byTenant, tenant) ? (byTenant[tenant] ?? []) : [];
}

async function fetchS3(
  { sources, s3, staging }: ContentFetcherOptions,
  tenant: string,
  uri: string,
  { maxBytes, signal }: FetchOptions,
): Promise<Uint8Array> {
  const address = parseS3Address(uri);
  const isApproved = address !== undefined && ownOf(sources().s3, tenant).some((folder) => isBelow(address, folder));
  const isStaging = address !== undefined && staging !== undefined && isBelow(address, staging);
  if (s3 === undefined || !isApproved || isStaging || address.key.endsWith('/')) {
    const message = 'content_ref.uri is refused: it names no object below a folder that is approved for the tenant';
    throw new DocumentFault('address_refused', message);
  }
  try {
    const bytes = await readObject(s3, address, { maxBytes, signal });
    if (bytes !== undefined) return bytes;
  } catch (error) {
    signal.throwIfAborted();
    throw faultOf(error);
  }
  throw new DocumentFault('content_absent', 'content_ref.uri names an object that does not exist');
}

function faultOf(error: unknown): unknown {
  if (error instanceof ObjectTooLargeError) {
    return new DocumentFault('too_large', `content_ref names more than ${error.maxBytes} bytes`);
  }
  if (!(error instanceof ObjectsUnavailableError)) return error;
  if (error.fault !== 'denied') return new DependencyUnavailableError('content');
  return new DocumentFault('content_absent', 'content_ref.uri names an object to which the store refuses access');
}
