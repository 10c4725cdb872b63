import { currentProfile } from '#contracts/profiles';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { patchUnguarded } from '#kube/testing/patch-unguarded';
import { kinds } from '#resources/kinds';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../../operator/testing/objects.ts';
import { writePolicy } from '../support/resources.ts';

export const sidePolicy = 'side';
/** A word that the second policy denies. */
export const churnDeniedWord = 'portal';
const bindings = 20;
const everyMs = 300;

type Churn = {
  /** Edits that the API server accepted. */
  readonly edits: () => number;
  stop(): Promise<void>;
};

/** Edits many bindings one after another: creates, applies, disables, deletes and creates them again. */
export async function startChurn(client: KubeClient): Promise<Churn> {
  await writePolicy(client, policyObject(sidePolicy, { definition: definitionOf(churnDeniedWord) }));
  let edits = 0;
  let isOpen = true;

  async function edit(name: string): Promise<void> {
    const held = await client.get<ModelBinding>(kinds.modelBinding, name);
    if (held === undefined) {
      await client.create<ModelBinding>(
        kinds.modelBinding,
        bindingObject(name, { ...randomSpec(edits), model: modelOf(name) }),
      );
    } else if (Math.random() < 0.15) {
      await deleteConfirmed(client, kinds.modelBinding, held);
    } else {
      const { uid } = held.metadata;
      const model = { ...held.spec.model, state: Math.random() < 0.2 ? ('Disabled' as const) : ('Enabled' as const) };
      const value = { ...held.spec, ...(Math.random() < 0.5 ? randomSpec(edits) : {}), model };
      const change = [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'replace', path: '/spec', value },
      ] as const;
      if (value.guardrail.mode === 'None') await patchUnguarded(client, name, change);
      else await client.patch(kinds.modelBinding, name, change);
    }
    edits += 1;
  }

  async function run(): Promise<void> {
    while (isOpen) {
      try {
        await edit(`side-${Math.floor(Math.random() * bindings)}`);
      } catch (error) {
        // The API server is unreachable or another edit conflicts; the edit is retried later.
        if (!isKubeError(error)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  const running = run();
  return {
    edits: () => edits,
    async stop() {
      isOpen = false;
      await running;
    },
  };
}

function randomSpec(turn: number): Partial<ModelBindingSpec> {
  const isGuarded = Math.random() < 0.6;
  return {
    guardrail: isGuarded ? guardedBy(1, sidePolicy) : { mode: 'None' },
    contentProfile: currentProfile,
    apply: `turn-${turn}-${Math.random()}`,
  };
}

function modelOf(alias: string): ModelBindingSpec['model'] {
  return { alias, provider: 'scripted', upstreamModel: 'scripted', state: 'Enabled' };
}
