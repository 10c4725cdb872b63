import type { ApprovalRule } from '#contracts/approvals';
import type { Freeze } from '#contracts/freezes';
import { sameJson } from '#kube/apply/same-json';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { Guardrail, ModelBinding } from '#resources/model-binding';
import type { OpenedResources } from '../resources/resource-source.ts';
import type { ResourceWriter } from '../resources/resource-writer.ts';

/** The freeze windows and the approval rules of an installation. */
export type CommandRules = { readonly freezes: readonly Freeze[]; readonly rules: readonly ApprovalRule[] };
type CoveredTarget = {
  readonly type: 'policy' | 'model';
  readonly id: string;
  readonly name: string;
  readonly isOfBinding?: true;
};

type WarningOptions = {
  /** Reads the approval rules and freeze windows; undefined if they cannot be read. */
  readonly readRules: () => Promise<CommandRules | undefined>;
  readonly now: () => Date;
  readonly warn: (warning: string) => void;
};

/**
 * A writer of resources that warns of each write which, as a command of the management API, would be refused by a
 * freeze window or would need an approval. Freeze windows and approvals apply to commands of that API only.
 */
export function createWarningWriter(
  { client, writer }: Pick<OpenedResources, 'client' | 'writer'>,
  { readRules, now, warn }: WarningOptions,
): ResourceWriter {
  let known: Promise<CommandRules | undefined> | undefined;
  /** A policy gets one warning for all of its bindings. */
  const warned = new Set<string>();

  /**
   * The change was already written: if the policy cannot be read now, its warning is omitted, and the command still
   * succeeds.
   */
  async function warnOf(find: () => Promise<readonly CoveredTarget[]>): Promise<void> {
    known ??= readRules();
    const rules = await known;
    if (rules === undefined || rules.freezes.length + rules.rules.length === 0) return;
    const targets = await find().catch(() => []);
    const at = now();
    for (const warning of targets.flatMap((target) => coverageOf(rules, target, at))) {
      if (!warned.has(warning)) warn(warning);
      warned.add(warning);
    }
  }

  async function policiesOf(names: readonly string[]): Promise<readonly CoveredTarget[]> {
    const found = await Promise.all(
      [...new Set(names)].map((name) => client.get<GuardrailPolicy>(kinds.guardrailPolicy, name)),
    );
    return found.flatMap((policy) => (policy === undefined ? [] : targetOf('policy', policy)));
  }

  /** The model, its new policy and its previous policy. */
  async function bindingTargets(before: Stored<ModelBinding>, wanted: Guardrail): Promise<readonly CoveredTarget[]> {
    const names = [before.spec.guardrail, wanted].flatMap((one) => (one.mode === 'Policy' ? [one.policyRef.name] : []));
    return [
      ...targetOf('model', before),
      ...(await policiesOf(names)).map((one) => ({ ...one, isOfBinding: true as const })),
    ];
  }

  return {
    async applyToBinding(binding, desired) {
      const written = await writer.applyToBinding(binding, desired);
      await warnOf(() => bindingTargets(binding, desired.guardrail));
      return written;
    },
    async setLifecycle(policy, lifecycle) {
      await writer.setLifecycle(policy, lifecycle);
      if (lifecycle === 'Archived') await warnOf(async () => targetOf('policy', policy));
    },
    async applyManifest(manifest, base) {
      const { kind, resource } = manifest;
      const before =
        isBinding(resource) || isPolicy(resource)
          ? (base ?? (await client.get<Resource>(kind, resource.metadata.name)))
          : undefined;
      const result = await writer.applyManifest(manifest, base);
      if (before === undefined || result.action === 'unchanged') return result;
      // Changes of other members of a binding are not applications.
      if (isBinding(before) && isBinding(resource) && isApplication(before.spec, resource.spec)) {
        await warnOf(() => bindingTargets(before, resource.spec.guardrail));
      }
      if (isPolicy(before) && isPolicy(resource) && resource.spec.lifecycle !== before.spec.lifecycle) {
        if (resource.spec.lifecycle === 'Archived') await warnOf(async () => targetOf('policy', before));
      }
      return result;
    },
  };
}

function isApplication(before: ModelBinding['spec'], wanted: ModelBinding['spec']): boolean {
  return !sameJson(before.guardrail, wanted.guardrail) || before.contentProfile !== wanted.contentProfile;
}

/** A resource without an id is new: no window and no rule names it. */
function targetOf(type: CoveredTarget['type'], { metadata }: Stored<Resource>): readonly CoveredTarget[] {
  const id = metadata.labels?.[idLabel];
  return id === undefined ? [] : [{ type, id, name: metadata.name }];
}

function coverageOf(
  { freezes, rules }: CommandRules,
  { type, id, name, isOfBinding }: CoveredTarget,
  now: Date,
): readonly string[] {
  const inForce = freezes.find(
    ({ target, startsAt, endsAt }) =>
      target.type === type &&
      target.id === id &&
      Date.parse(startsAt) <= now.getTime() &&
      now.getTime() < Date.parse(endsAt),
  );
  const rule = rules.some((one) =>
    'policyId' in one ? type === 'policy' && one.policyId === id : type === 'model' && one.modelId === id,
  );
  const what = `The ${type} ${name}`;
  const changed = isOfBinding === true ? 'a binding of it was changed' : 'was changed';
  return [
    ...(inForce === undefined
      ? []
      : [
          `${what} is frozen until ${inForce.endsAt}, and ${changed} nevertheless: freeze windows apply to commands with --via api.`,
        ]),
    ...(rule
      ? [`${what} requires approvals, and ${changed} without one: approvals apply to commands with --via api.`]
      : []),
  ];
}

/** The schema of the kind has validated the resource. */
function isBinding<R extends Resource>(object: R): object is R & ModelBinding {
  return object.kind === kinds.modelBinding.kind;
}

function isPolicy<R extends Resource>(object: R): object is R & GuardrailPolicy {
  return object.kind === kinds.guardrailPolicy.kind;
}
