import { type ApplyResult, desiredObject } from '#kube/apply/apply-manifest';
import type { Manifest } from '#kube/apply/read-manifests';
import { sameJson } from '#kube/apply/same-json';
import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { confirmationOf } from '#resources/protection';
import { lostGuardrails as lostGuardrailsOfAgent, versionEffect } from '../agents/lost-guardrails.ts';
import { waitAgentReady } from '../agents/wait-agent-ready.ts';
import { waitAgentServed } from '../agents/wait-agent-served.ts';
import { lostByBinding } from '../bindings/unguarded-effect.ts';
import { waitApplied } from '../bindings/wait-applied.ts';
import { afterChange } from '../errors/after-change.ts';
import { CliError } from '../errors/cli-error.ts';
import type { createRevisionFiller } from '../manifests/omitted-revision.ts';
import type { ReadManifest } from '../manifests/read-resources.ts';
import { type ConfirmOption, confirm } from '../options/confirm-option.ts';
import { type DryRunOption, dryRunSuffix } from '../options/dry-run-option.ts';
import type { WaitOption } from '../options/wait-option.ts';
import {
  type Format,
  formatOf,
  isForPeople,
  type OutputOptions,
  waitProgressOn,
  writeValue,
} from '../output/format.ts';
import { writeText, writeWarning } from '../output/write.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { changedObject, changesOfOtherNames } from './changed-object.ts';
import { judgedByOperator, warningsOf } from './judge-applied.ts';

type AppliedManifest = Pick<Manifest, 'kind' | 'resource'>;
type ApplyManifestsOptions = OutputOptions & WaitOption & ConfirmOption & DryRunOption;

type AppliedSet = {
  readonly manifests: readonly ReadManifest[];
  /** Fills in the revisions that bindings omit; absent if the manifests are complete. */
  readonly filler?: ReturnType<typeof createRevisionFiller>;
  /** The object from which a manifest was written; a newer object is refused. */
  readonly base?: Stored<Resource>;
};

/**
 * Applies resources. Kinds that the transport cannot write are refused, and all confirmations are requested, before the
 * first write. Policies are applied first: bindings need their revisions.
 * @throws CliError usage, not_confirmed, refused, conflict, timeout
 */
export async function applyManifests(
  resources: Pick<OpenedResources, 'client' | 'writer' | 'environment' | 'shows' | 'objectOf'>,
  { manifests, filler, base }: AppliedSet,
  options: ApplyManifestsOptions,
): Promise<void> {
  const { client, writer, shows } = resources;
  const format = formatOf(options);
  const { dryRun } = options;
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  if (shows !== undefined) refuseUnwritable(shows, manifests);
  const bindings = await bindingsLosingProtection(client, manifests);
  const agents = await agentsLosingChecks(client, manifests);
  const versions = await versionsLosingChecks(client, manifests);
  const replaced = await changesOfOtherNames(resources, manifests);
  if (dryRun === undefined) {
    const effects = [...bindings, ...agents, ...versions].flatMap((one) => one.effects);
    await confirm([...replaced, ...effects], options);
  } else {
    replaced.forEach(writeWarning);
  }
  const confirmed = new Map([
    ...[...bindings.map(({ binding }) => binding), ...agents.map(({ agent }) => agent)].map(
      (one) => [keyOf(one), confirmationOf(one.metadata)] as const,
    ),
    ...versions.map(({ version, agent }) => [keyOf(version), confirmationOf(agent.metadata)] as const),
  ]);
  const warnings = await warningsOf(manifests, resources);
  warnings?.forEach(writeWarning);
  const results: ApplyResult[] = [];
  await reportingWrites(results, { format, isDryRun: dryRun !== undefined }, async () => {
    for (const { kind, resource } of inOrder(manifests)) {
      // A dry run records no revision of a policy, so that there is nothing to wait for.
      const fill = dryRun === undefined ? filler?.fill : filler?.fillKnown;
      const filled = fill === undefined ? resource : await fill(resource, client);
      const confirmation = confirmed.get(keyOf(filled));
      const wanted = { kind, resource: confirmation === undefined ? filled : confirming(filled, confirmation) };
      const result =
        dryRun === 'client'
          ? await compare(resources, { kind, resource: filled })
          : await writer.applyManifest(wanted, base);
      results.push(result);
      say(`${kind.kind} ${result.object.metadata.name} ${result.action}${dryRunSuffix(options)}`);
    }
    const { wait } = options;
    if (dryRun !== undefined || wait === undefined) return;
    const onState = waitProgressOn(process.stderr, format);
    for (const { object } of results) await awaitEffect(client, object, { wait, onState, say });
    // An applied binding was judged with its policy; if this machine could not find the warnings, the operator has
    // found them.
    const isJudged = warnings !== undefined && results.some(({ object }) => isBinding(object));
    if (isJudged) return;
    const found = await judgedByOperator(client, results, wait, onState);
    if (warnings === undefined) found.forEach(writeWarning);
  });
}

/**
 * Writes the results at the end of the command, even after a failure, so that programs learn which resources were
 * written before it.
 * @throws the error of `act`; refused instead of usage, which says that nothing was changed, after a change
 */
async function reportingWrites(
  results: readonly ApplyResult[],
  { format, isDryRun }: { readonly format: Format; readonly isDryRun: boolean },
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isForPeople(format) && results.length > 0) writeValue(format, results);
    const isChanged = !isDryRun && results.some(({ action }) => action !== 'unchanged');
    throw isChanged ? afterChange(error) : error;
  }
  if (!isForPeople(format)) writeValue(format, results);
}

async function awaitEffect(
  client: KubeClient,
  object: Stored<Resource>,
  awaited: {
    readonly wait: number;
    readonly onState: (sentence: string) => void;
    readonly say: (text: string) => void;
  },
): Promise<void> {
  const { wait, onState, say } = awaited;
  const what = `${object.kind} ${object.metadata.name}`;
  if (isVersion(object)) {
    await waitAgentReady(client, object, wait, onState);
    say(`${what} is ready`);
  } else if (isAgent(object)) {
    await waitAgentServed(client, object, wait, onState);
    say(`${what} is served`);
  } else if (isBinding(object)) {
    await waitApplied(client, object, wait, onState);
    say(`${what} is applied`);
  }
}

/** The result of an apply that sends no request. */
async function compare(
  resources: Pick<OpenedResources, 'client' | 'objectOf'>,
  manifest: AppliedManifest,
): Promise<ApplyResult> {
  const current = await changedObject(resources, manifest);
  const desired = desiredObject(manifest, current);
  // No object was stored, so that fields that the server sets are missing.
  if (current === undefined) return { action: 'created', object: desired as Stored<Resource> };
  const { metadata, spec } = current;
  const before = { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {}, spec };
  const { labels, annotations } = desired.metadata;
  const isSame = sameJson(before, { labels, annotations, spec: desired.spec });
  const object = { ...current, metadata: { ...metadata, labels, annotations }, spec: desired.spec };
  return { action: isSame ? 'unchanged' : 'configured', object: object as Stored<Resource> };
}

function isVersion<R extends Resource>(object: R): object is R & AgentVersion {
  return object.kind === kinds.agentVersion.kind;
}

function isAgent(object: Stored<Resource>): object is Stored<Agent> {
  return object.kind === kinds.agent.kind;
}

/** The resources in an order in which those that others refer to are first: policies, then versions of agents. */
function inOrder(manifests: readonly AppliedManifest[]): readonly AppliedManifest[] {
  const first: readonly string[] = [kinds.guardrailPolicy.kind, kinds.agentVersion.kind];
  const others = manifests.filter(({ kind }) => !first.includes(kind.kind));
  return [...first.flatMap((one) => manifests.filter(({ kind }) => kind.kind === one)), ...others];
}

function keyOf({ kind, metadata }: Resource): string {
  return `${kind}/${metadata.name}`;
}

function refuseUnwritable(shows: NonNullable<OpenedResources['shows']>, manifests: readonly AppliedManifest[]): void {
  const found = manifests.find(({ kind }) => !shows(kind));
  if (found === undefined) return;
  const { kind, resource } = found;
  throw new CliError(
    'usage',
    `The management API does not write the kind ${kind.kind}, and nothing was written: apply ${resource.metadata.name} with --via resources.`,
  );
}

/** The guarded bindings that the manifests would leave with less protection, with the effects. */
async function bindingsLosingProtection(
  client: KubeClient,
  manifests: readonly AppliedManifest[],
): Promise<readonly { readonly binding: Stored<ModelBinding>; readonly effects: readonly string[] }[]> {
  const found: { binding: Stored<ModelBinding>; effects: readonly string[] }[] = [];
  for (const { resource } of manifests) {
    if (!isBinding(resource)) continue;
    const binding = await client.get<ModelBinding>(kinds.modelBinding, resource.metadata.name);
    const effects = binding === undefined ? [] : lostByBinding(binding, resource.spec);
    if (binding !== undefined && effects.length > 0) found.push({ binding, effects });
  }
  return found;
}

/** The agents that the manifests would have serve a version with fewer checks, with the effects. */
async function agentsLosingChecks(
  client: KubeClient,
  manifests: readonly AppliedManifest[],
): Promise<readonly { readonly agent: Stored<Agent>; readonly effects: readonly string[] }[]> {
  const made = new Map(
    manifests.flatMap(({ resource }) => (isVersion(resource) ? [[resource.metadata.name, resource] as const] : [])),
  );
  const found: { agent: Stored<Agent>; effects: readonly string[] }[] = [];
  for (const { resource } of manifests) {
    if (resource.kind !== kinds.agent.kind) continue;
    const agent = await client.get<Agent>(kinds.agent, resource.metadata.name);
    if (agent === undefined) continue;
    const effects = await lostGuardrailsOfAgent(client, agent, (resource as Agent).spec, made);
    if (effects.length > 0) found.push({ agent, effects });
  }
  return found;
}

/** The new versions that lose checks of the Agent that names them already, with the effects. */
async function versionsLosingChecks(client: KubeClient, manifests: readonly AppliedManifest[]) {
  const found: {
    readonly version: AgentVersion;
    readonly agent: Stored<Agent>;
    readonly effects: readonly string[];
  }[] = [];
  for (const { resource } of manifests) {
    if (!isVersion(resource)) continue;
    const agent = await client.get<Agent>(kinds.agent, resource.spec.agent);
    const effect = agent === undefined ? undefined : versionEffect(resource, agent);
    if (agent === undefined || effect === undefined) continue;
    const isNew = (await client.get(kinds.agentVersion, resource.metadata.name)) === undefined;
    if (isNew) found.push({ version: resource, agent, effects: [effect] });
  }
  return found;
}

/** The object with the confirmation that the server requires. */
function confirming<R extends Resource>(resource: R, confirmation: string): R {
  const { metadata } = resource;
  const annotations = { ...metadata.annotations, [confirmUnguardedAnnotation]: confirmation };
  return { ...resource, metadata: { ...metadata, annotations } };
}

/** The schema of the resource's kind has already validated the spec. */
function isBinding<R extends Resource>(object: R): object is R & ModelBinding {
  return object.kind === kinds.modelBinding.kind;
}
