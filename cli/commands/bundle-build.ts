import { type Command, Option } from 'commander';
import { bundlePolicySchema } from '#contracts/bundle';
import { contentProfiles } from '#contracts/profiles';
import { writeAtomic } from '#kit/files/write-atomic';
import { CliError } from '../errors/cli-error.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { withPolicyFile } from '../options/policy-file-options.ts';
import { withJson } from '../output/format.ts';
import { writeJson, writeText } from '../output/write.ts';
import { judgePolicy } from '../policy/judge-policy.ts';
import { readPolicy } from '../policy/read-policy.ts';

type BuildOptions = {
  readonly policy: string;
  readonly profile: string;
  readonly out: string;
  readonly policyId?: string;
  readonly revision: string;
  readonly limits?: string;
  readonly providers?: string;
  readonly json?: boolean;
};

export function addBundleBuild(program: Command): void {
  const bundle = program.command('bundle').description('build bundles, the files that a runtime loads');
  const command = withPolicyFile(bundle.command('build'))
    .description('build and validate the bundle of a policy, write it and print its digest')
    .addOption(new Option('--profile <profile>', 'content profile').choices(contentProfiles).makeOptionMandatory())
    .requiredOption('--out <file>', 'file to write')
    .option('--policy-id <id>', 'id of the policy (default: its label, else derived from namespace and name)')
    .option('--revision <revision>', 'revision of the policy', '1')
    .option('--limits <file>', 'bundle limits (default: the example values of the contract)')
    .option('--providers <file>', 'approved providers (default: none)');
  withJson(command).action(build);
}

async function build(options: BuildOptions): Promise<void> {
  const { policyId, revision } = options;
  requireWord('--policy-id', policyId, bundlePolicySchema.shape.id);
  requireWord('--revision', revision, bundlePolicySchema.shape.revision);
  const { bytes, digest } = await judgePolicy(await readPolicy(options.policy), {
    ...(policyId === undefined ? {} : { policyId }),
    revision,
    contentProfile: options.profile,
    limits: readLimits(options.limits),
    approved: readProviders(options.providers),
    approvedIn: options.providers,
  });
  await writeAtomic(options.out, bytes, { mode: 0o644 });
  if (options.json === true) writeJson({ digest, bytes: bytes.length, file: options.out });
  else writeText(digest);
}

function requireWord(option: string, value: string | undefined, schema: typeof bundlePolicySchema.shape.id): void {
  if (value === undefined || schema.safeParse(value).success) return;
  throw new CliError('usage', `${option} must have 1 to 128 visible ASCII characters.`);
}
