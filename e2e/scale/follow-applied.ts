import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { startReflector } from '#kube/watch/reflector';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

type FollowedBindings = AsyncDisposable & {
  /** Bindings with Applied True for their newest generation. */
  applied(): number;
  /** Waits until this many bindings are applied. */
  all(count: number, deadlineMs: number): Promise<void>;
};

/** Counts the bindings that are applied, as a watch reports them. */
export function followApplied(client: KubeClient): FollowedBindings {
  const applied = new Set<string>();
  const reflector = startReflector<ModelBinding>({
    client,
    kind: kinds.modelBinding,
    logger: { info() {}, warn() {} },
    onChange(name, current) {
      if (current !== undefined && isApplied(current)) applied.add(name);
      else applied.delete(name);
    },
  });
  return {
    applied: () => applied.size,
    all: async (count, deadlineMs) => {
      await until(`${count} bindings are applied`, () => applied.size >= count || undefined, { deadlineMs }).catch(
        (error: unknown) => {
          const [one] = reflector.store.list().filter((binding) => !isApplied(binding));
          throw new Error(`${applied.size} are applied, and not ${JSON.stringify(one)}`, { cause: error });
        },
      );
    },
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}

function isApplied({ metadata, status }: Stored<ModelBinding>): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Applied');
  return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
}
