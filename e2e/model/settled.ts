import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeObject } from '#kube/client/kube-object';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { MemoryApi } from './memory-api.ts';

/** The state of an installation, from a simulation or a real cluster. */
type Seen = {
  readonly api: Pick<MemoryApi, 'list'>;
  /** Names of the running replicas, each with the generationIds that it serves by alias, if known. */
  gateways(): readonly {
    readonly name: string;
    serving(): ReadonlyMap<string, { readonly generationId: string }> | undefined;
  }[];
};

const workloadParts = [builtinKinds.deployment, builtinKinds.service, builtinKinds.networkPolicy];

/** Reasons why an idle installation is not in its desired state; empty if it is. */
export function unsettled(installation: Seen): readonly string[] {
  const { api } = installation;
  const found: string[] = [];
  const expect = (holds: boolean, sentence: string): void => {
    if (!holds) found.push(sentence);
  };
  const all = <R extends KubeObject>(kind: Parameters<typeof api.list>[0]) => api.list(kind).items as Stored<R>[];
  const routes = all<GatewayRoute>(kinds.gatewayRoute);
  const bindings = all<ModelBinding>(kinds.modelBinding);
  const workloads = all<RuntimeWorkload>(kinds.runtimeWorkload);

  for (const { metadata, status } of all<GuardrailPolicy>(kinds.guardrailPolicy)) {
    const isHeld = metadata.deletionTimestamp !== undefined;
    expect(isHeld || status?.observedGeneration === metadata.generation, `policy ${metadata.name} was not reconciled`);
  }
  for (const binding of bindings) {
    const { name, generation, deletionTimestamp } = binding.metadata;
    expect(deletionTimestamp === undefined, `binding ${name} is still being deleted`);
    expect(binding.status?.observedGeneration === generation, `binding ${name} was not reconciled`);
    const [accepted, applied] = ['Accepted', 'Applied'].map((type) =>
      binding.status?.conditions?.find((condition) => condition.type === type),
    );
    const isOpen = accepted?.status === 'True' && applied?.status === 'Unknown';
    expect(!isOpen, `binding ${name} is still in progress: ${applied?.message}`);
    expect(
      applied?.reason !== 'ProviderUnavailable',
      `binding ${name} does not notice that its provider answers again`,
    );
    const route = routes.find((one) => one.metadata.name === name);
    expect(
      binding.status?.pinned?.generationId === route?.spec.generationId,
      `the status of binding ${name} repeats another route`,
    );
    if (applied?.status === 'True') {
      expect(route?.spec.token === (binding.spec.apply ?? ''), `${name} is applied, and its route pins another token`);
      expect(route?.spec.state === binding.spec.model.state, `the route ${name} and its binding have different states`);
      expect(
        route?.spec.alias === binding.spec.model.alias,
        `the route ${name} and its binding have different aliases`,
      );
    }
  }
  for (const { metadata, spec } of routes) {
    expect(
      bindings.some((one) => one.metadata.uid === spec.binding.uid),
      `the route ${metadata.name} has no binding`,
    );
    for (const gateway of installation.gateways()) {
      const serving = gateway.serving();
      if (serving === undefined) continue;
      const held = serving.get(spec.alias)?.generationId;
      expect(held === spec.generationId, `${gateway.name} serves another generation of ${spec.alias}`);
    }
  }
  const needed = new Set(routes.flatMap(({ spec }) => spec.workload ?? []));
  // A binding that does not own its alias has no outcome: its requested application may be kept
  // (docs/design/applications-and-routes.md).
  const isKept = bindings.some(({ status }) => isNotAccepted(status));
  for (const { metadata } of workloads) if (isKept) needed.add(metadata.name);
  expectSame(
    found,
    'workloads',
    needed,
    workloads.map(({ metadata }) => metadata.name),
  );
  for (const { metadata, spec, status } of workloads) {
    expect(spec.state === 'Active' && status?.state === 'Ready', `the workload ${metadata.name} is not ready`);
    const replicas = routes
      .filter((route) => route.spec.workload === metadata.name)
      .map((route) => bindings.find(({ metadata: { name } }) => name === route.metadata.name)?.spec.replicas ?? 1);
    expect(
      isKept || spec.replicas === Math.max(1, ...replicas),
      `the workload ${metadata.name} has ${spec.replicas} processes`,
    );
  }
  for (const kind of workloadParts) {
    expectSame(
      found,
      kind.plural,
      needed,
      all(kind).map(({ metadata }) => metadata.name),
    );
  }
  const digests = all(builtinKinds.configMap).map(({ metadata }) => metadata.annotations?.['portcullis.dev/digest']);
  expectSame(found, 'bundles', new Set(workloads.map(({ spec }) => spec.digest)), digests);
  const running = installation.gateways().map(({ name }) => name);
  expectSame(
    found,
    'reports',
    new Set(running),
    all(kinds.gatewayReport).map(({ metadata }) => metadata.name),
  );
  return found;
}

function isNotAccepted(status: ModelBinding['status']): boolean {
  return status?.conditions?.some(({ type, status: said }) => type === 'Accepted' && said === 'False') ?? false;
}

function expectSame(
  found: string[],
  what: string,
  wanted: ReadonlySet<string>,
  is: readonly (string | undefined)[],
): void {
  const [a, b] = [[...wanted].toSorted().join(', '), is.toSorted().join(', ')];
  if (a !== b) found.push(`${what}: found [${b}], expected [${a}]`);
}
