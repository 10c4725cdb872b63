import { agentRow } from '#diagnosis/agent-row';
import { tenantIssuer } from '#identity/authorize-callers';
import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import { apiVersion, confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { confirmationOf } from '#resources/protection';
import { lostGuardrails, versionEffect } from '../agents/lost-guardrails.ts';
import { waitAgentServed } from '../agents/wait-agent-served.ts';
import { CliError } from '../errors/cli-error.ts';
import { readCallerName } from '../http/caller-options.ts';
import { type ConfirmOption, confirm } from '../options/confirm-option.ts';
import { formatOf, isForPeople, type OutputOptions, waitProgressOn, writeValue } from '../output/format.ts';
import { writeText } from '../output/write.ts';
import { withPlatform } from '../platform/open-platform.ts';
import { restartWith, runningPlatform } from '../platform/running-platform.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import type { VersionManifest } from './make-version.ts';
import { versionOfFolder } from './version-of-folder.ts';

export type PublishOptions = OutputOptions &
  ConfirmOption & {
    readonly subflows?: string;
    readonly name?: string;
    readonly as?: string;
    readonly tenant: string;
    readonly allow?: readonly string[];
    readonly everyone?: boolean;
    readonly workspace?: string;
    readonly wait: number;
    readonly requestTimeout: number;
    readonly data?: string;
    readonly message?: string;
  };

type Access = Agent['spec']['access'];

/**
 * Applies the files of a folder as an AgentVersion, and makes its Agent serve it: a new Agent belongs to the person who
 * publishes it. Asks before the first write if texts that are checked now would no longer be checked. Waits until every
 * ready gateway replica serves the version.
 * @throws CliError usage, not_found, not_confirmed, refused, conflict, timeout
 */
export async function publishFlow(folder: string, options: PublishOptions): Promise<void> {
  const version = versionOfFolder(folder, options);
  const platform = runningPlatform(options.data);
  if (platform.status.addresses.agents === undefined) {
    throw new CliError('failed', `No gateway of this platform serves agents: ${restartWith('--agents')}`);
  }
  const { requestTimeout, message } = options;
  const source = { requestTimeout, ...(message === undefined ? {} : { message }) };
  await withPlatform(platform, source, (resources) => publish(resources, version, options));
}

async function publish(
  { client, writer }: Pick<OpenedResources, 'client' | 'writer'>,
  version: VersionManifest,
  options: PublishOptions,
): Promise<void> {
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  const name = version.spec.agent;
  const before = await client.get<Agent>(kinds.agent, name);
  const spec = before === undefined ? newAgent(version.metadata.name, options) : changed(before, version, options);
  const lost = before === undefined ? { byAgent: [], byVersion: [] } : await lostChecks(client, before, spec, version);
  await confirm([...lost.byAgent, ...lost.byVersion], options);
  const confirmed = before === undefined ? {} : { [confirmUnguardedAnnotation]: confirmationOf(before.metadata) };
  const wanted = lost.byVersion.length === 0 ? version : withAnnotations(version, confirmed);
  const made = await writer.applyManifest({ kind: kinds.agentVersion, resource: wanted });
  say(`AgentVersion ${version.metadata.name} ${made.action}`);
  const { labels = {}, annotations = {} } = before?.metadata ?? {};
  const metadata = {
    name,
    labels,
    annotations: { ...annotations, ...(lost.byAgent.length === 0 ? {} : confirmed) },
  };
  const resource: Agent = { apiVersion, kind: kinds.agent.kind, metadata, spec };
  const applied = await writer.applyManifest({ kind: kinds.agent, resource }, before);
  say(`Agent ${name} ${applied.action}`);
  const served = await waitAgentServed(
    client,
    applied.object as Stored<Agent>,
    options.wait,
    waitProgressOn(process.stderr, format),
  );
  say(`Agent ${name} serves ${agentRow(served).version ?? ''} at ${served.status?.url ?? ''}`);
  if (!isForPeople(format)) writeValue(format, served);
}

type LostChecks = { readonly byAgent: readonly string[]; readonly byVersion: readonly string[] };

/** The effects of the new version, as sentences: on its Agent, which begins to serve it, or names it already. */
async function lostChecks(
  client: KubeClient,
  agent: Stored<Agent>,
  wanted: Agent['spec'],
  version: VersionManifest,
): Promise<LostChecks> {
  const byAgent = await lostGuardrails(client, agent, wanted, new Map([[version.metadata.name, version]]));
  const isNew = (await client.get(kinds.agentVersion, version.metadata.name)) === undefined;
  const effect = isNew ? versionEffect(version, agent) : undefined;
  return { byAgent, byVersion: effect === undefined ? [] : [effect] };
}

function withAnnotations(version: VersionManifest, annotations: Readonly<Record<string, string>>) {
  return { ...version, metadata: { ...version.metadata, annotations } };
}

function newAgent(version: string, options: PublishOptions): Agent['spec'] {
  const owner = ownerOf(options);
  return {
    version,
    owner,
    workspace: options.workspace ?? options.tenant,
    access: accessOf(options, owner) ?? alone(owner),
  };
}

/** The Agent with the new version. A trial ends, because it compared another version with the present one. */
function changed(
  { spec }: Stored<Agent>,
  { metadata }: { readonly metadata: { readonly name: string } },
  options: PublishOptions,
): Agent['spec'] {
  const { canary: _ended, ...kept } = spec;
  const { workspace = spec.workspace } = options;
  return { ...kept, version: metadata.name, workspace, access: accessOf(options, spec.owner) ?? spec.access };
}

function ownerOf({ as, tenant }: PublishOptions): Agent['spec']['owner'] {
  const person = as ?? process.env['PORTCULLIS_AS'];
  if (person === undefined) throw new CliError('usage', 'Name the owner of the new agent: --as PERSON.');
  return { issuer: tenantIssuer(tenant), subject: readCallerName(person) };
}

/** The access that options name; undefined without such an option. */
function accessOf({ allow, everyone, tenant }: PublishOptions, owner: Agent['spec']['owner']): Access | undefined {
  if (everyone === true) return { view: [{ kind: 'AuthenticatedAll' }], invoke: [{ kind: 'AuthenticatedAll' }] };
  if (allow === undefined) return undefined;
  const issuer = tenantIssuer(tenant);
  const others = allow.map((subject) => ({ kind: 'User', issuer, subject }) as const);
  const holders = [...alone(owner).invoke, ...others];
  return { view: holders, invoke: holders };
}

function alone(owner: Agent['spec']['owner']): Access {
  const holders = [{ kind: 'User', ...owner } as const];
  return { view: holders, invoke: holders };
}
