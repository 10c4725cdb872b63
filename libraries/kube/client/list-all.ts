import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { builtinKinds } from './builtin-kinds.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';

const pageSize = 500;
/** Pages of kinds whose objects may have most of a mebibyte, so that one page stays below 20 MiB. */
const largePageSize = 20;
/** How often a list is begun in pages before it is asked for in one answer. */
const pagedAttempts = 2;
const largeKinds: readonly string[] = [
  kinds.guardrailPolicy.kind,
  kinds.policyRevision.kind,
  kinds.runtimeWorkload.kind,
  builtinKinds.configMap.kind,
];

export type ListAllOptions<R extends KubeObject = Resource> = {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
  /** Called for each page that came. */
  readonly onPage?: () => void;
  /** What is kept of each object, page by page, so that the whole of all of them is never held. */
  readonly transform?: (object: Stored<R>) => Stored<R>;
};

/**
 * A consistent read of all objects of a kind, page by page; `resourceVersion` is that of the whole list.
 * When the token of a page has become too old, everything is read once more from the beginning; when that happens
 * again, in one answer.
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
  const { onPage, transform = keepAll, ...selection } = options;
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

function keepAll<R>(object: R): R {
  return object;
}
