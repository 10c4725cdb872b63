import { setTimeout as delay } from 'node:timers/promises';
import type { Manifest } from '#kube/apply/read-manifests';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';

const pauseMs = 1_000;

export type CreateAbsentOptions = {
  /** Milliseconds to wait for definitions that are not in force yet, and for a server that does not answer. */
  readonly patienceMs: number;
  /** Learns of each resource in a sentence. */
  readonly say: (sentence: string) => void;
};

/**
 * Creates the resources that are not there, policies first; what is there stays as it is, whatever it says.
 * @throws KubeError when one is refused, or when the patience is over
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
): Promise<'created' | 'was there'> {
  for (;;) {
    try {
      if ((await client.get(kind, resource.metadata.name)) !== undefined) return 'was there';
      await client.create(kind, resource);
      return 'created';
    } catch (error) {
      if (isKubeError(error, 'already_exists')) return 'was there';
      // Definitions come into force a moment after they are stored; until then their paths are not found.
      const mayPass = isKubeError(error, 'not_found', 'unavailable', 'network', 'too_many_requests');
      if (!mayPass || performance.now() > end) throw error;
    }
    await delay(pauseMs);
  }
}
