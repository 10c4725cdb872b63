import { agentRow } from '#diagnosis/agent-row';
import { tenantIssuer } from '#identity/authorize-callers';
import type { Agent } from '#resources/agent';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { waitAgentServed } from '../agents/wait-agent-served.ts';
import { CliError } from '../errors/cli-error.ts';
import { readCallerName } from '../http/caller-options.ts';
import { formatOf, isForPeople, type OutputOptions, waitProgressOn, writeValue } from '../output/format.ts';
import { writeText } from '../output/write.ts';
import { openPlatform } from '../platform/open-platform.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { versionOfFolder } from './version-of-folder.ts';

export type PublishOptions = OutputOptions & {
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
};

type Access = Agent['spec']['access'];

/**
 * Applies the files of a folder as an AgentVersion, and has its Agent serve it: a new Agent belongs to the person who
 * publishes it. Waits until every ready gateway replica serves the version.
 * @throws CliError usage, not_found, refused, conflict, timeout
 */
export async function publishFlow(folder: string, options: PublishOptions): Promise<void> {
  const version = versionOfFolder(folder, options);
  const platform = runningPlatform(options.data);
  if (platform.status.addresses.agents === undefined) {
    throw new CliError('failed', 'No gateway of this platform serves agents: start it with "portcullis up --agents".');
  }
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  await using resources = openPlatform(platform, { requestTimeout: options.requestTimeout });
  const { client, writer } = resources;
  const name = version.spec.agent;
  const before = await client.get<Agent>(kinds.agent, name);
  const spec = before === undefined ? newAgent(version.metadata.name, options) : changed(before, version, options);
  const made = await writer.applyManifest({ kind: kinds.agentVersion, resource: version });
  say(`AgentVersion ${version.metadata.name} ${made.action}`);
  const resource: Agent = { apiVersion, kind: kinds.agent.kind, metadata: { name }, spec };
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

function newAgent(version: string, options: PublishOptions): Agent['spec'] {
  const owner = ownerOf(options);
  return {
    version,
    owner,
    workspace: options.workspace ?? options.tenant,
    access: accessOf(options, owner) ?? alone(owner),
  };
}

/** The Agent with the new version. A trial ends, because it compared the new version with the present one. */
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
