import type { Command } from 'commander';
import { z } from 'zod';
import {
  type OperationResource,
  type PolicyDetail,
  type PolicyReplace,
  policyReplaceSchema,
} from '#contracts/management';
import { CliError } from '../../errors/cli-error.ts';
import { readSources, readYaml } from '../../manifests/read-sources.ts';
import { type WaitOption, withWait } from '../../options/wait-option.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../../output/format.ts';
import type { ManagementClient } from '../client.ts';
import { finishOperation } from '../finish-operation.ts';
import { type IdempotencyOption, keyOf, withIdempotencyKey } from '../idempotency-option.ts';
import { type ManagementCommandOptions, openManagement, withManagementOptions } from '../management-options.ts';
import { resolvePolicy } from '../resolve-policy.ts';

type ChangeOptions = ManagementCommandOptions & OutputOptions & WaitOption & IdempotencyOption;
type FileOptions = ChangeOptions & { readonly filename: string };

const which = 'id or name of the policy';
const file = 'YAML or JSON with name, description and definition; - for standard input';

export function addPolicyChanges(policy: Command): void {
  change(policy, 'create', 'create a policy and its first revision; applies it to no model')
    .requiredOption('-f, --filename <file>', file)
    .action(create);
  change(policy, 'update', 'save the next revision of a policy; applied revisions do not change')
    .argument('<guardrail-policy>', which)
    .requiredOption('-f, --filename <file>', file)
    .action(update);
  change(policy, 'archive', 'archive a policy: new applications are refused, existing ones keep serving')
    .argument('<guardrail-policy>', which)
    .action((word: string, options: ChangeOptions) => setStatus(word, 'archived', options));
  change(policy, 'restore', 'allow applications of an archived policy again')
    .argument('<guardrail-policy>', which)
    .action((word: string, options: ChangeOptions) => setStatus(word, 'draft', options));
}

function change(policy: Command, name: string, description: string): Command {
  const command = policy.command(name).description(description);
  return withIdempotencyKey(
    withWait(withOutput(withManagementOptions(command)), 'wait until the revision is recorded'),
  );
}

async function create(options: FileOptions): Promise<void> {
  const { name, description, definition, status } = await readPolicyFile(options.filename);
  if (status === 'archived') throw new CliError('usage', 'A new policy has the status draft: archive it afterwards.');
  const { client } = openManagement(options);
  const accepted = await client.createPolicy({ name, description, definition }, keyOf(options));
  await finishOperation(client, accepted, options);
}

/** A file that was edited from an older revision is refused, so that no concurrent change is lost. */
async function update(word: string, options: FileOptions): Promise<void> {
  const { name, description, definition, status, revision } = await readPolicyFile(options.filename);
  const { client } = openManagement(options);
  const { value: latest, etag } = await client.getPolicy(await resolvePolicy(client, word));
  if (revision !== undefined && revision !== latest.revision && options.idempotencyKey === undefined) {
    const sentence = `${options.filename} was edited from revision ${revision}, but the latest one is ${latest.revision}: edit that one.`;
    throw new CliError('conflict', sentence);
  }
  const next = { name, description, definition, status: status ?? latest.status };
  await finishOperation(client, await client.replacePolicy(latest.id, next, { etag, ...keyOf(options) }), options);
}

async function setStatus(word: string, status: PolicyReplace['status'], options: ChangeOptions): Promise<void> {
  const { client } = openManagement(options);
  const { value: latest, etag } = await client.getPolicy(await resolvePolicy(client, word));
  if (latest.status === status && options.idempotencyKey === undefined) {
    writeResult(formatOf(options), latest, () => `The policy ${latest.id} is ${status} already: nothing was changed.`);
    return;
  }
  await finishOperation(client, await replaceStatus(client, { latest, etag, status, options }), options);
}

function replaceStatus(
  client: ManagementClient,
  {
    latest,
    etag,
    status,
    options,
  }: {
    readonly latest: PolicyDetail;
    readonly etag: string;
    readonly status: PolicyReplace['status'];
    readonly options: IdempotencyOption;
  },
): Promise<OperationResource> {
  const { name, description, definition } = latest;
  return client.replacePolicy(latest.id, { name, description, definition, status }, { etag, ...keyOf(options) });
}

/** A policy file: the members that a command sends, and those that `policy get` adds. */
type PolicyFile = Pick<PolicyReplace, 'name' | 'description' | 'definition'> & {
  readonly status: PolicyReplace['status'] | undefined;
  /** The revision that was edited, if the file contains it. */
  readonly revision: number | undefined;
};

const shown = z.unknown().optional();
const fileSchema = z.strictObject({
  ...policyReplaceSchema.shape,
  status: policyReplaceSchema.shape.status.optional(),
  revision: z.int().min(1).optional(),
  // Set by the service and ignored in a file.
  id: shown,
  definitionDigest: shown,
  ruleCount: shown,
  ruleKinds: shown,
  createdAt: shown,
  updatedAt: shown,
});

/**
 * Reads name, description, definition and status from YAML or JSON, such as `policy get -o yaml` writes.
 * @throws CliError not_found, or usage that names line or field
 */
async function readPolicyFile(path: string): Promise<PolicyFile> {
  const [source, ...others] = await readSources(path);
  if (source === undefined || others.length > 0) throw new CliError('usage', `${path} must be one file.`);
  const { kind } = readYaml(source, z.looseObject({ kind: z.unknown().optional() }));
  if (kind !== undefined) {
    const sentence =
      'this is a manifest: apply it with "portcullis apply", or give a file with name, description and definition.';
    throw new CliError('usage', `${source.name}: ${sentence}`);
  }
  const { name, description, definition, status, revision } = readYaml(source, fileSchema);
  return { name, description, definition, status, revision };
}
