import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../../operator/testing/objects.ts';

const atOnce = 24;

async function each(count: number, make: (index: number) => Promise<unknown>, first = 0): Promise<void> {
  let next = first;
  async function makeSome(): Promise<void> {
    while (next < count) {
      const index = next;
      next += 1;
      await make(index);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, makeSome));
}

function policyName(index: number): string {
  return `policy-${index}`;
}

export function bindingName(index: number): string {
  return `binding-${index}`;
}

/** Creates policies without tests, each of which results in a different bundle. */
export function makePolicies(client: KubeClient, count: number): Promise<void> {
  return each(count, (index) => {
    const definition = definitionOf(`word-${index}`);
    return client.create(kinds.guardrailPolicy, policyObject(policyName(index), { definition }));
  });
}

function makeBinding(client: KubeClient, index: number, policies: number): Promise<unknown> {
  const guardrail = guardedBy(1, policyName(index % policies));
  return client.create(kinds.modelBinding, bindingObject(bindingName(index), { guardrail }));
}

/** Creates the binding with index 0. */
export async function makeFirstBinding(client: KubeClient, policies: number): Promise<void> {
  await makeBinding(client, 0, policies);
}

/** Creates the other bindings, distributed evenly over the policies. */
export function makeOtherBindings(client: KubeClient, count: number, policies: number): Promise<void> {
  return each(count, (index) => makeBinding(client, index, policies), 1);
}
