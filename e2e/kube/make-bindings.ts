import { v7 as uuidv7 } from 'uuid';
import type { KubeClient } from '#kube/client/client';
import { sampleBinding } from '#kube/testing/sample-resources';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';

/** Annotations that make an object of 2 KiB, without managedFields. */
const annotations = Object.fromEntries(
  Array.from({ length: 22 }, (_, index) => [`example.com/note-${index}`, `${index} ${'x'.repeat(42)}`]),
);

function largeBinding(index: number): ModelBinding {
  return sampleBinding(`binding-${index}`, {
    annotations,
    labels: { [idLabel]: uuidv7(), team: `t-${index % 7}` },
  });
}

/** Creates bindings of about 2 KiB each. */
export async function makeLargeBindings(client: KubeClient, count: number): Promise<void> {
  let next = 0;
  async function makeSome(): Promise<void> {
    while (next < count) {
      const index = next;
      next += 1;
      await client.create(kinds.modelBinding, largeBinding(index));
    }
  }
  await Promise.all(Array.from({ length: 16 }, makeSome));
}
