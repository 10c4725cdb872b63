import type { Command } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import type { ApplyResult } from '#kube/apply/apply-manifest';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { hasGuardrail, unguardedEffect } from '../bindings/unguarded-effect.ts';
import { waitApplied } from '../bindings/wait-applied.ts';
import { CliError } from '../errors/cli-error.ts';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { type ReadManifest, readResources, refuseOtherNamespaces } from '../manifests/read-resources.ts';
import { readSources } from '../manifests/read-sources.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions, withOutput, writeValue } from '../output/format.ts';
import { writeText } from '../output/write.ts';
import { policyWarnings } from '../policy/policy-warnings.ts';
import { policyIdOf } from '../policy/read-policy.ts';
import { waitJudged } from '../policy/wait-judged.ts';
import type { JudgedEnvironment, OpenedResources, ResourceSource } from '../resources/resource-source.ts';

type ApplyOptions = ResourceCommandOptions & OutputOptions & WaitOption & ConfirmOption & { readonly filename: string };

export function addApply(program: Command, source: ResourceSource): void {
  const command = program
    .command('apply')
    .description('create or update resources from files; a binding without a revision gets the newest one')
    .requiredOption('-f, --filename <path>', 'a file, a folder, or - for standard input');
  source
    .addWriteOptions(withConfirm(withWait(withOutput(withResourceOptions(command, source)))))
    .action((options: ApplyOptions) => apply(source, options));
}

/** Every file is validated and every question asked before the first write. Policies go first: bindings need their revisions. */
async function apply(source: ResourceSource, options: ApplyOptions): Promise<void> {
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  const filler = createRevisionFiller();
  // Invalid files are reported before a server is contacted.
  const manifests = readResources(await readSources(options.filename), { complete: filler.complete });
  await using resources = await source.open(options);
  const { client, writer } = resources;
  refuseOtherNamespaces(manifests, client.namespace);
  const unguarded = await lostGuardrails(client, manifests);
  await confirm(unguarded.map(unguardedEffect), options);
  const confirmed = new Set(unguarded.map(({ metadata }) => metadata.name));
  const warnings = await warningsOf(manifests, resources);
  warnings?.forEach(writeWarning);
  const results: ApplyResult[] = [];
  for (const { kind, resource } of policiesFirst(manifests)) {
    const filled = await filler.fill(resource, client);
    const wanted = {
      kind,
      resource: isBinding(filled) && confirmed.has(filled.metadata.name) ? confirming(filled) : filled,
    };
    const result = await writer.applyManifest(wanted);
    results.push(result);
    say(`${kind.kind} ${result.object.metadata.name} ${result.action}`);
  }
  for (const { object } of results) {
    if (options.wait === undefined || !isBinding(object)) continue;
    await waitApplied(client, object, options.wait);
    say(`${object.kind} ${object.metadata.name} is applied`);
  }
  if (options.wait !== undefined && !results.some(({ object }) => isBinding(object))) {
    const found = await judgedByOperator(client, results, options.wait);
    if (warnings === undefined) found.forEach(writeWarning);
  }
  if (!isForPeople(format)) writeValue(format, results);
}

/** Without a binding that is awaited, the judgement of each policy is. Returns its warnings. */
async function judgedByOperator(
  client: KubeClient,
  results: readonly ApplyResult[],
  seconds: number,
): Promise<readonly string[]> {
  const warnings: (string | undefined)[] = [];
  for (const { object } of results) {
    if (isPolicy(object)) warnings.push(await waitJudged(client, object, seconds));
  }
  return warnings.filter((warning) => warning !== undefined);
}

/**
 * What the policies would be refused for or warned of, judged on this machine with the settings of the platform;
 * undefined where these cannot be read, for example over the management API.
 */
async function warningsOf(
  manifests: readonly ReadManifest[],
  resources: OpenedResources,
): Promise<readonly string[] | undefined> {
  const policies = manifests.flatMap(({ resource, source }) =>
    isPolicy(resource) ? [{ policy: resource, source }] : [],
  );
  if (policies.length === 0) return [];
  const settings = await settingsOf(resources);
  if (settings === undefined) return undefined;
  const warnings: string[] = [];
  for (const { policy, source } of policies) {
    warnings.push(...(await policyWarnings({ source, policy, id: policyIdOf(policy) }, settings)));
  }
  return warnings;
}

async function settingsOf(resources: OpenedResources): Promise<JudgedEnvironment | undefined> {
  try {
    return await resources.environment();
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function writeWarning(warning: string): void {
  process.stderr.write(`portcullis: warning: ${warning}\n`);
}

function policiesFirst(manifests: readonly ReadManifest[]): readonly ReadManifest[] {
  const isPolicy = ({ kind }: ReadManifest): boolean => kind.kind === kinds.guardrailPolicy.kind;
  return [...manifests.filter(isPolicy), ...manifests.filter((manifest) => !isPolicy(manifest))];
}

/** The guarded bindings that would not be guarded any more. */
async function lostGuardrails(
  client: KubeClient,
  manifests: readonly ReadManifest[],
): Promise<readonly Stored<ModelBinding>[]> {
  const lost: Stored<ModelBinding>[] = [];
  for (const { resource } of manifests) {
    if (!isBinding(resource) || resource.spec.guardrail.mode !== 'None') continue;
    const current = await client.get<ModelBinding>(kinds.modelBinding, resource.metadata.name);
    if (current !== undefined && hasGuardrail(current)) lost.push(current);
  }
  return lost;
}

/** The confirmation that servers ask for, with a value that no earlier change has used. */
function confirming(binding: ModelBinding): ModelBinding {
  const { metadata } = binding;
  const annotations = { ...metadata.annotations, [confirmUnguardedAnnotation]: uuidv7() };
  return { ...binding, metadata: { ...metadata, annotations } };
}

function isPolicy<R extends Resource>(object: R): object is R & GuardrailPolicy {
  return object.kind === kinds.guardrailPolicy.kind;
}

/** The schema of the resource's kind has already validated the spec. */
function isBinding<R extends Resource>(object: R): object is R & ModelBinding {
  return object.kind === kinds.modelBinding.kind;
}
