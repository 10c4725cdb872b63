import type { Command } from 'commander';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { type FileOption, withFiles } from '../options/file-option.ts';
import { type PolicyFileOptions, withPolicyFileOptions } from '../options/policy-file-options.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type OutputOptions, withUnnamedOutput } from '../output/format.ts';
import { nameOfPath, type PolicyInFile, policyIdOf, readPolicies } from '../policy/read-policy.ts';
import { testPolicies } from '../policy/test-policies.ts';
import { readResource } from '../resources/read-resource.ts';
import type { JudgedEnvironment, OpenedResources, ResourceSource } from '../resources/resource-source.ts';
import { readRevision } from '../revisions/read-revisions.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type TestOptions = ResourceCommandOptions &
  OutputOptions &
  PolicyFileOptions &
  FileOption & { readonly revision?: number };

export function addTest(program: Command, source: ResourceSource): void {
  const command = program
    .command('test')
    .description(
      'validate a policy on this machine and run its tests: a policy of the platform, or those of files, without a server',
    )
    .argument('[policy]', 'name of a policy')
    .option('--revision <n>', 'a recorded revision (default: the current spec)', parseRevisionNumber);
  withUnnamedOutput(withPolicyFileOptions(withResourceOptions(withFiles(command), source))).action(
    (policy: string | undefined, options: TestOptions) => test(source, policy, options),
  );
}

async function test(source: ResourceSource, policy: string | undefined, options: TestOptions): Promise<void> {
  const { filename, revision } = options;
  if ((policy === undefined) === (filename === undefined)) {
    throw new CliError('usage', 'Give the name of one policy, or files with --filename.');
  }
  if (filename !== undefined) {
    if (revision !== undefined) throw new CliError('usage', 'A policy in a file has no revisions: remove --revision.');
    const what = filename.map(nameOfPath).join(', ');
    return testPolicies(await readPolicies(filename), environmentOfFiles(options), { ...options, what });
  }
  await using resources = await source.open(options);
  const found = await readPolicyOf(resources, policy ?? '', revision);
  const environment = await environmentOf(resources, options);
  await testPolicies([found], environment, { ...options, what: found.source });
}

/** The current policy, or one of its recorded revisions. */
async function readPolicyOf(
  { client }: OpenedResources,
  name: string,
  revision: number | undefined,
): Promise<PolicyInFile> {
  if (revision === undefined) {
    const policy = await readResource<GuardrailPolicy>(client, kinds.guardrailPolicy, name);
    return { source: `GuardrailPolicy ${name}`, policy, id: policyIdOf(policy) };
  }
  const { spec } = await readRevision(client, name, revision);
  const { displayName, description, lifecycle, refusalText, tests } = spec;
  const definition = JSON.parse(spec.definition) as GuardrailPolicy['spec']['definition'];
  const policy: GuardrailPolicy = {
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'GuardrailPolicy',
    metadata: { name },
    spec: {
      displayName,
      description,
      lifecycle,
      definition,
      ...(refusalText === undefined ? {} : { refusalText }),
      tests,
    },
  };
  return { source: `GuardrailPolicy ${name}, revision ${revision}`, policy, id: spec.policyId };
}

function environmentOfFiles({ providers, limits }: PolicyFileOptions): JudgedEnvironment {
  return { approved: readProviders(providers), limits: readLimits(limits) };
}

/** Providers and limits of the platform, each replaced by a given file. */
async function environmentOf(resources: OpenedResources, options: PolicyFileOptions): Promise<JudgedEnvironment> {
  const { providers, limits } = options;
  if (providers !== undefined && limits !== undefined) return environmentOfFiles(options);
  const found = await resources.environment();
  return {
    approved: providers === undefined ? found.approved : readProviders(providers),
    limits: limits === undefined ? found.limits : readLimits(limits),
  };
}
