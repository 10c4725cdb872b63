import { z } from 'zod';
import { type PolicyReplace, policyReplaceSchema } from '#contracts/management';
import { CliError } from '../errors/cli-error.ts';
import { readSources } from '../manifests/read-sources.ts';
import { readYaml } from '../manifests/read-yaml.ts';

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
export async function readPolicyFile(path: string): Promise<PolicyFile> {
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
