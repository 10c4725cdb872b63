import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { builtinKinds } from './builtin-kinds.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';

const pageSize = 500;
/** Page size for kinds whose objects can be close to 1 MiB: keeps a page below 20 MiB. */
const largePageSize = 20;
/** Number of attempts to read page by page before the whole list is requested in one response. */
const pagedAttempts = 2;
const largeKinds: readonly string[] = [
  kinds.guardrailPolicy.kind,
  kinds.policyRevision.kind,
  kinds.runtimeWorkload.kind,
  kinds.agentVersion.kind,
  builtinKinds.configMap.kind,
];

type ListAllOptions<R extends KubeObject = Resource> = {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
  /** Called for each page. */
  readonly onPage?: () => void;
  /** Reduces each object, page by page, so that not all objects are in memory in full. */
  readonly transform?: (object: Stored<R>) => Stored<R>;
};

/**
 * A consistent read of all objects of a kind, page by page; `resourceVersion` is the version of the whole list. When
 * the token of a page has expired, the list starts again; after the second time, all objects are requested in one
 * response.
 */
export async function listAll<R extends KubeObject = Resource>(
  client: Pick<KubeClient, 'list'>,
  kind: Kind,
  options: ListAllOptions<R> = {},
): Promise<{ readonly items: readonly Stored<R>[]; readonly resourceVersion: string }> {
  const limit = largeKinds.includes(kind.kind) && kind.metadataOnly !== true ? largePageSize : pageSize;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readPages<R>(client, kind, options, attempt > pagedAttempts ? undefined : limit);
    } catch (error) {
      if (attempt > pagedAttempts || !isKubeError(error, 'gone')) throw error;
    }
  }
}

async function readPages<R extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  kind: Kind,
  options: ListAllOptions<R>,
  limit: number | undefined,
): Promise<{ readonly items: readonly Stored<R>[]; readonly resourceVersion: string }> {
  const { onPage, transform = (object) => object, ...selection } = options;
  const query = limit === undefined ? selection : { ...selection, limit };
  const items: Stored<R>[] = [];
  let page = await client.list<R>(kind, query);
  while (true) {
    onPage?.();
    for (const item of page.items) items.push(transform(item));
    if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion };
    page = await client.list<R>(kind, { ...query, continue: page.continue });
  }
}
