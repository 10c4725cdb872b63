import type { BindingDependencies } from '#diagnosis/binding-dependencies';
import { listAll } from '#kube/client/list-all';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { readResource } from '../resources/read-resource.ts';
import type { OpenedResources } from '../resources/resource-source.ts';

/** @throws CliError not_found */
export async function gatherFacts(
  { client, surroundings }: OpenedResources,
  name: string,
): Promise<BindingDependencies> {
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const { guardrail, gateway } = binding.spec;
  const policy =
    guardrail.mode === 'Policy'
      ? await client.get<GuardrailPolicy>(kinds.guardrailPolicy, guardrail.policyRef.name)
      : undefined;
  const route = await client.get<GatewayRoute>(kinds.gatewayRoute, name);
  const named = new Set([route?.spec.workload, binding.status?.workload?.name]);
  const workloads: Stored<RuntimeWorkload>[] = [];
  for (const workload of named) {
    if (workload === undefined) continue;
    const found = await client.get<RuntimeWorkload>(kinds.runtimeWorkload, workload);
    if (found !== undefined) workloads.push(found);
  }
  const reports = (await listAll<GatewayReport>(client, kinds.gatewayReport)).items;
  return {
    binding,
    ...(policy === undefined ? {} : { policy }),
    ...(route === undefined ? {} : { route }),
    workloads,
    reports: reports.filter(({ spec }) => spec.gateway === gateway),
    surroundings: await surroundings(),
  };
}
