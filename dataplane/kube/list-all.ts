import type { Kind } from '#crds/kinds';
import type { Resource, Stored } from '#crds/metadata';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';

const pageSize = 500;

export type ListAllOptions = {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
  /** Called for each page that came. */
  readonly onPage?: () => void;
};

/**
 * A consistent read of all objects of a kind, page by page; `resourceVersion` is that of the whole list.
 * When the token of a page has become too old, everything is read once more in one answer.
 */
export async function listAll<R extends KubeObject = Resource>(
  client: Pick<KubeClient, 'list'>,
  kind: Kind,
  options: ListAllOptions = {},
): Promise<{ readonly items: readonly Stored<R>[]; readonly resourceVersion: string }> {
  const { onPage, ...query } = options;
  let page = await client.list<R>(kind, { ...query, limit: pageSize });
  const items = [...page.items];
  onPage?.();
  while (page.continue !== undefined) {
    try {
      page = await client.list<R>(kind, { ...query, limit: pageSize, continue: page.continue });
    } catch (error) {
      if (isKubeError(error, 'gone')) return client.list<R>(kind, query);
      throw error;
    }
    onPage?.();
    for (const item of page.items) items.push(item);
  }
  return { items, resourceVersion: page.resourceVersion };
}
