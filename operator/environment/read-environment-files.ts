import { access } from 'node:fs/promises';
import { type BundleLimits, bundleLimitsSchema, defaultBundleLimits } from '#contracts/bundle';
import { type ApprovedProvider, providersFileSchema } from '#contracts/providers';
import { type FlowConnection, readConnectionsFile } from '#environment/connections-file';
import { readYamlFile, repeatedNames } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import { type AgentTemplate, agentTemplateSchema } from './agent-template.ts';
import { type ServedPolicy, servedPoliciesSchema } from './served-policies.ts';
import { type WorkloadTemplate, workloadTemplateSchema } from './workload-template.ts';

/** Approved providers, limits and connections. */
export type Environment = {
  readonly approved: readonly ApprovedProvider[];
  readonly limits: BundleLimits;
  /** The outside services that flows of agents may call through the gateways. */
  readonly connections: readonly FlowConnection[];
};

/** Additional settings of a cluster. */
export type ClusterEnvironment = Environment & {
  readonly served: readonly ServedPolicy[];
  readonly template: WorkloadTemplate;
  /** The settings of the pods of agents; absent if the installation does not run agents. */
  readonly agents: AgentTemplate | undefined;
};

type EnvironmentFiles = {
  readonly providers: string;
  readonly limits: string;
  /** Absent for a process that needs no connections. */
  readonly connections?: string;
};

type Findings<T> = { readonly value: T; readonly problems: readonly string[] };

/**
 * Reads the approved providers, the limits of bundles and the connections. Without the file no provider is approved,
 * limits have the contract's example values, and there are no connections. A file with any problem is refused.
 * @throws ConfigError with one sentence per problem
 */
export async function readEnvironmentFiles(files: EnvironmentFiles): Promise<Environment> {
  const { value, problems } = await readBoth(files);
  if (problems.length > 0) throw new ConfigError(problems);
  return value;
}

/**
 * Also reads the served policies (none without the file), the pod template, which is required, and the pod template of
 * agents.
 * @throws ConfigError with one sentence per problem of any file
 */
export async function readClusterEnvironment(
  files: EnvironmentFiles & { readonly served: string; readonly template: string; readonly agents: string },
): Promise<ClusterEnvironment> {
  const { value, problems } = await readBoth(files);
  const served = await readServed(files.served);
  const template = await readYamlFile(files.template, workloadTemplateSchema, undefined);
  const agents = await readAgents(files.agents);
  const all = [...problems, ...served.problems, ...template.problems, ...agents.problems];
  if (all.length > 0 || template.value === undefined) throw new ConfigError(all);
  return { ...value, served: served.value, template: template.value, agents: agents.value };
}

/**
 * Reads the served policies; without the file there are none.
 * @throws ConfigError with one sentence per problem
 */
export async function readServedPolicies(path: string): Promise<readonly ServedPolicy[]> {
  const { value, problems } = await readServed(path);
  if (problems.length > 0) throw new ConfigError(problems);
  return value;
}

/** Reads the settings of agents; without the file the installation does not run agents. */
async function readAgents(path: string): Promise<Findings<AgentTemplate | undefined>> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  return isThere ? readYamlFile(path, agentTemplateSchema, undefined) : { value: undefined, problems: [] };
}

async function readServed(path: string): Promise<Findings<readonly ServedPolicy[]>> {
  const { value, problems } = await readYamlFile(path, servedPoliciesSchema, { policies: [] });
  return { value: value.policies, problems: [...problems, ...twice(path, 'policy', value.policies)] };
}

async function readBoth(files: EnvironmentFiles): Promise<Findings<Environment>> {
  const providers = await readYamlFile(files.providers, providersFileSchema, { providers: [] });
  const limits = await readYamlFile(files.limits, bundleLimitsSchema.partial(), {});
  const connections =
    files.connections === undefined ? { value: [], problems: [] } : await readConnectionsFile(files.connections);
  const problems = [
    ...connections.problems,
    ...providers.problems,
    ...twice(files.providers, 'provider', providers.value.providers),
    ...limits.problems,
  ];
  const approved = providers.value.providers;
  const bounds = { ...defaultBundleLimits, ...withoutUndefined(limits.value) };
  return { value: { approved, limits: bounds, connections: connections.value }, problems };
}

function twice(path: string, what: string, entries: readonly { readonly name: string }[]): readonly string[] {
  return repeatedNames(entries).map((name) => `${path}: the ${what} ${name} is listed twice`);
}

function withoutUndefined(limits: Partial<Record<keyof BundleLimits, number | undefined>>): Partial<BundleLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
