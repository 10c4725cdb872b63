import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { changesOfSettings, settingsOf } from './binding-settings.ts';
import { type ObservingTools, startObservingStates } from './observe-states.ts';
import type { ObservedBinding, ObservedStates } from './ports.ts';

/** Records changes of a ModelBinding that are no applications. Applications and its deletion have their own entries. */
export function startObservingBindings(
  options: ObservingTools & {
    readonly client: Pick<KubeClient, 'list'>;
    readonly caches: Pick<ManagementCaches, 'bindings' | 'onBindingChange' | 'synced'>;
    readonly states: ObservedStates<ObservedBinding>;
  },
): AsyncDisposable {
  const { caches, ...others } = options;
  return startObservingStates<ModelBinding, ObservedBinding>({
    ...others,
    kind: kinds.modelBinding,
    cache: caches.bindings,
    synced: caches.synced,
    onChange: caches.onBindingChange,
    stateOf: settingsOf,
    changesOf: changesOfSettings,
    changesOfDeletion: () => [],
  });
}
