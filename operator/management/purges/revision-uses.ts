import type { AgentVersion } from '#resources/agent-version';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { restoreMark } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { policyIdLabel, policyRevisionLabel } from '#resources/revision-labels';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { readPrevious } from '../../applications/previous-application.ts';

/** An object that keeps a revision in use, and why. */
export type RevisionUse = { readonly plural: string; readonly name: string; readonly why: string };

/** The live objects that were read after the revision was marked. */
export type UseFacts = {
  readonly revision: Stored<PolicyRevision>;
  /** The policy that has the id of the revision; undefined if it was deleted. */
  readonly policy: Stored<GuardrailPolicy> | undefined;
  /** The number of the newest revision of the id. */
  readonly newest: number;
  readonly bindings: readonly Stored<ModelBinding>[];
  readonly routes: readonly Stored<GatewayRoute>[];
  readonly workloads: readonly Pick<Stored<RuntimeWorkload>, 'metadata'>[];
  readonly agentVersions: readonly Pick<Stored<AgentVersion>, 'metadata' | 'spec'>[];
  /** Whether an unfinished command writes the same definition, or applies the revision. */
  readonly isInCommand: boolean;
};

/** Everything that needs or contains the text of a revision now. */
export function revisionUses(facts: UseFacts): readonly RevisionUse[] {
  const { revision, policy, newest, bindings, routes, workloads, agentVersions, isInCommand } = facts;
  const { policyId, number, policy: recorded } = revision.spec;
  const names: ReadonlySet<string | undefined> = new Set([recorded.name, policy?.metadata.name]);
  const isOwn = (id: string | undefined, of: number | string | undefined): boolean =>
    id === policyId && String(of) === String(number);
  const named = (guardrail: Guardrail): boolean =>
    guardrail.mode === 'Policy' && names.has(guardrail.policyRef?.name) && guardrail.policyRef?.revision === number;
  /** The application before can serve again only while its workload exists, but its record can hold a text for longer. */
  const keepsText = (route: Pick<Stored<GatewayRoute>, 'metadata'>): boolean => {
    const previous = readPrevious(route);
    if (previous?.mode !== 'Policy' || previous.guardrail.refusalText === undefined) return false;
    return isOwn(previous.guardrail.policyId, previous.guardrail.policyRevision);
  };
  const found: RevisionUse[] = [];
  const use = (plural: string, name: string, why: string): void => void found.push({ plural, name, why });

  if (policy !== undefined && newest === number) {
    use('guardrailpolicies', policy.metadata.name, 'has this version as its newest: save one without the text first');
  }
  if (revision.metadata.labels?.[restoreMark] !== undefined) {
    use('policyrevisions', revision.metadata.name, 'is the version from which its policy is created again');
  }
  if (isInCommand) use('guardrailpolicies', recorded.name, 'has a command in progress with this definition');
  for (const { metadata, spec, status } of bindings) {
    if (named(spec.guardrail)) use('modelbindings', metadata.name, 'names the version');
    else if (isOwn(status?.pinned?.policyId, status?.pinned?.policyRevision)) {
      use('modelbindings', metadata.name, 'is guarded by the version');
    }
  }
  for (const { metadata, spec } of routes) {
    const { guardrail } = spec;
    if (guardrail.mode === 'Policy' && isOwn(guardrail.policyId, guardrail.policyRevision)) {
      use('gatewayroutes', metadata.name, 'serves the version');
    } else if (keepsText({ metadata })) {
      use(
        'gatewayroutes',
        metadata.name,
        'still contains its refusal text: reapply the version that the binding serves',
      );
    }
  }
  for (const { metadata } of workloads) {
    const id = metadata.labels?.[policyIdLabel];
    if (id === undefined) {
      use('runtimeworkloads', metadata.name, 'was started before workloads named their version: repeat it later');
    } else if (isOwn(id, metadata.labels?.[policyRevisionLabel])) {
      use('runtimeworkloads', metadata.name, 'runs the version, or is draining: repeat it when it has ended');
    }
  }
  for (const { metadata, spec } of agentVersions) {
    const { input, output } = spec.guardrails;
    if (named(input) || named(output)) use('agentversions', metadata.name, 'names the version');
  }
  return found;
}

type Guardrail = {
  readonly mode: string;
  readonly policyRef?: { readonly name: string; readonly revision: number };
};
