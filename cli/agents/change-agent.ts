import { agentRow } from '#diagnosis/agent-row';
import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import { begunVersions } from '#resources/agent-protection';
import type { AgentVersion } from '#resources/agent-version';
import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { confirmationOf } from '#resources/protection';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ConfirmOption, confirm } from '../options/confirm-option.ts';
import { type DryRunOption, dryRunSuffix } from '../options/dry-run-option.ts';
import type { WaitOption } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions, waitProgressOn, writeValue } from '../output/format.ts';
import { writeText } from '../output/write.ts';
import { readResource } from '../resources/read-resource.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { lostGuardrails } from './lost-guardrails.ts';
import { waitAgentServed } from './wait-agent-served.ts';

/** The versions of an Agent that a command selects. */
type VersionChange = Pick<Agent['spec'], 'version' | 'canary'>;

/**
 * Writes the versions of an Agent, if it has not changed meanwhile, and with --wait waits until every ready gateway
 * replica serves them. Asks first if texts that are checked now would no longer be checked.
 * @throws CliError not_found, usage, not_confirmed, conflict, refused, timeout
 */
export async function changeAgent(
  { client, writer }: Pick<OpenedResources, 'client' | 'writer'>,
  name: string,
  changeOf: (agent: Stored<Agent>) => VersionChange,
  options: OutputOptions & WaitOption & DryRunOption & ConfirmOption,
): Promise<void> {
  const agent = await readResource<Agent>(client, kinds.agent, name);
  const { version, canary } = changeOf(agent);
  const { canary: _before, ...kept } = agent.spec;
  const spec: Agent['spec'] = { ...kept, version, ...(canary === undefined ? {} : { canary }) };
  await refuseUnservable(client, agent, spec);
  const effects = await lostGuardrails(client, agent, spec);
  if (options.dryRun === undefined) await confirm(effects, options);
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  const { apiVersion, kind } = agent;
  const { labels = {}, annotations = {} } = agent.metadata;
  const confirmed = effects.length === 0 ? {} : { [confirmUnguardedAnnotation]: confirmationOf(agent.metadata) };
  const metadata = { name, labels, annotations: { ...annotations, ...confirmed } };
  const manifest = { kind: kinds.agent, resource: { apiVersion, kind, metadata, spec } };
  const object =
    options.dryRun === 'client' ? { ...agent, spec } : (await writer.applyManifest(manifest, agent)).object;
  const trial = canary === undefined ? '' : `, with ${canary.version} for ${canary.percent} % of the callers`;
  say(`Agent ${name} set to ${version}${trial}${dryRunSuffix(options)}`);
  const written = object as Stored<Agent>;
  const wait = options.dryRun === undefined ? options.wait : undefined;
  const onState = waitProgressOn(process.stderr, format);
  const settled = wait === undefined ? written : await waitAgentServed(client, written, wait, onState);
  if (wait !== undefined) say(`Agent ${name} serves ${agentRow(settled).version ?? ''}`);
  if (!isForPeople(format)) writeValue(format, settled);
}

/**
 * Refuses a version that gateways could not serve, before anything is written: otherwise the agent keeps serving
 * its present version without an error.
 * @throws CliError not_found, usage, conflict
 */
async function refuseUnservable(client: KubeClient, agent: Stored<Agent>, wanted: VersionChange): Promise<void> {
  for (const name of begunVersions(agent.spec, wanted)) {
    const version = await readResource<AgentVersion>(client, kinds.agentVersion, name);
    if (version.metadata.deletionTimestamp !== undefined) {
      throw new CliError('conflict', `The AgentVersion ${name} is being deleted: choose another version.`);
    }
    if (version.spec.agent === agent.metadata.name) continue;
    throw new CliError(
      'usage',
      `The AgentVersion ${name} is a version of the Agent ${version.spec.agent}: choose a version of ${agent.metadata.name}.`,
    );
  }
}

/** The change of a rollback to a version, or to the version that was served before. */
export function rolledBackTo(version: string | undefined): (agent: Stored<Agent>) => VersionChange {
  return version === undefined ? rolledBack : () => ({ version });
}

/** Makes the version on trial the served version. @throws CliError usage without a trial */
export function promoted({ metadata, spec }: Stored<Agent>): VersionChange {
  if (spec.canary !== undefined) return { version: spec.canary.version };
  throw new CliError(
    'usage',
    `The Agent ${metadata.name} has no version on trial: begin one with ${typedCommand(`agent switch ${metadata.name} VERSION --canary PERCENT`)}.`,
  );
}

/**
 * The version that a rollback serves: during a trial the version that is still served, else the newest previous version
 * that is still running.
 * @throws CliError usage if there is none
 */
function rolledBack({ metadata, spec, status }: Stored<Agent>): VersionChange {
  if (spec.canary !== undefined) return { version: spec.version };
  const served = status?.served?.version;
  const target = served !== undefined && served !== spec.version ? served : status?.previous?.[0]?.version;
  if (target !== undefined) return { version: target };
  throw new CliError(
    'usage',
    `No previous version of the Agent ${metadata.name} is still running: set spec.version with ${typedCommand(`edit agent ${metadata.name}`)}; ${typedCommand('get agentversions')} lists the versions.`,
  );
}
