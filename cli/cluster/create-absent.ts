import { setTimeout as delay } from 'node:timers/promises';
import type { Manifest } from '#kube/apply/read-manifests';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';

const pauseMs = 1_000;

type CreateAbsentOptions = {
  /** Milliseconds to wait for resource definitions that are not established yet, and for an unreachable server. */
  readonly patienceMs: number;
  /** Called with one sentence for each resource. */
  readonly say: (sentence: string) => void;
};

/**
 * Creates the resources that do not exist, policies first. Existing resources are not changed.
 * @throws KubeError if a resource is refused, or after the timeout
 */
export async function createAbsent(
  client: Pick<KubeClient, 'get' | 'create'>,
  manifests: readonly Pick<Manifest, 'kind' | 'resource'>[],
  options: CreateAbsentOptions,
): Promise<void> {
  const end = performance.now() + options.patienceMs;
  const isPolicy = ({ kind }: Pick<Manifest, 'kind'>): boolean => kind.kind === kinds.guardrailPolicy.kind;
  for (const one of [...manifests.filter(isPolicy), ...manifests.filter((manifest) => !isPolicy(manifest))]) {
    const done = await createOne(client, one, end);
    options.say(`${one.kind.kind} ${one.resource.metadata.name} ${done}`);
  }
}

async function createOne(
  client: Pick<KubeClient, 'get' | 'create'>,
  { kind, resource }: Pick<Manifest, 'kind' | 'resource'>,
  end: number,
): Promise<'created' | 'already exists'> {
  for (;;) {
    try {
      if ((await client.get(kind, resource.metadata.name)) !== undefined) return 'already exists';
      await client.create(kind, resource);
      return 'created';
    } catch (error) {
      if (isKubeError(error, 'already_exists')) return 'already exists';
      // A new resource definition is not served immediately: until then requests to its path are answered with not
      // found.
      const isRetryable = isKubeError(error, 'not_found', 'unavailable', 'network', 'too_many_requests');
      if (!isRetryable || performance.now() > end) throw error;
    }
    await delay(pauseMs);
  }
}
