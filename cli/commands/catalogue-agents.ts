import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  type AgentProtocol,
  type AgentRecord,
  agentProtocols,
  agentStates,
  catalogueLimits,
  type ImplementationType,
  implementationTypes,
  type SearchProfile,
  searchProfiles,
} from '#contracts/catalogue';
import type { AgentListFilters, CatalogueClient } from '../catalogue/catalogue-client.ts';
import { type CatalogueOptions, openCatalogueClient, withCatalogueOptions } from '../catalogue/catalogue-options.ts';
import { watchCatalogue } from '../catalogue/watch-catalogue.ts';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { readScore } from '../options/score-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import { untilInterrupted } from '../watching/interruption.ts';

type FilterOptions = CatalogueOptions & {
  readonly workspace?: string;
  readonly protocol?: string;
  readonly type?: string;
  readonly state?: string;
  readonly ownerIssuer?: string;
  readonly ownerSubject?: string;
};
type ListOptions = FilterOptions & OutputOptions & { readonly limit: number };
type SearchOptions = CatalogueOptions &
  OutputOptions & {
    readonly workspace: string;
    readonly protocol?: AgentProtocol;
    readonly type?: ImplementationType;
    readonly profile?: SearchProfile;
    readonly topK: number;
    readonly minScore?: number;
  };
type WatchOptions = FilterOptions & { readonly interval: number; readonly times?: number };

/** Maximum number of agents that a watch compares. */
const mostWatched = 10_000;

export function addCatalogueAgents(program: Command): void {
  const agents = program
    .command('agents')
    .description('agents of the catalogue that the caller may see; "get agents" shows the resources of the platform');
  const list = withFilters(agents.command('list').description('list agents')).option(
    '--limit <number>',
    'maximum number of agents',
    wholeNumber(1, mostWatched),
    50,
  );
  withOutput(withCatalogueOptions(list)).action(listAgents);
  const get = agents.command('get').description('show an agent').argument('<agent>', 'name or id of the agent');
  withOutput(withCatalogueOptions(get)).action(showAgent);
  const { min, max, default: usual } = catalogueLimits.topK;
  const search = agents
    .command('search')
    .description('find the agents for a task among those that the caller may invoke')
    .argument('<query>', 'what the agent should do')
    .requiredOption('--workspace <name>', 'workspace that is searched')
    .addOption(protocolOption())
    .addOption(typeOption())
    .addOption(
      new Option('--profile <profile>', 'rank by words and by meaning, or by words only (default: hybrid)').choices(
        searchProfiles,
      ),
    )
    .option('--top-k <number>', 'maximum number of agents', wholeNumber(min, max), usual)
    .option('--min-score <number>', 'lowest score, from 0 to 1', readScore);
  withOutput(withCatalogueOptions(search)).action(searchFor);
  const watch = withFilters(agents.command('watch').description('show agents, then each change, until Ctrl-C')).option(
    '--interval <seconds>',
    'interval between two queries',
    wholeNumber(1, 3_600),
    5,
  );
  watch.option('--times <number>', 'number of queries (default: until Ctrl-C)', wholeNumber(1, 1_000_000));
  withCatalogueOptions(watch).action(followAgents);
}

function withFilters(command: Command): Command {
  return command
    .option('--workspace <name>', 'agents of this workspace')
    .addOption(protocolOption())
    .addOption(typeOption())
    .addOption(new Option('--state <state>', 'agents in this state (default: active)').choices(agentStates))
    .option('--owner-issuer <issuer>', 'agents whose owner has tokens of this issuer')
    .option('--owner-subject <subject>', 'agents whose owner has this subject');
}

function protocolOption(): Option {
  return new Option('--protocol <protocol>', 'agents of this protocol').choices(agentProtocols);
}

function typeOption(): Option {
  return new Option('--type <type>', 'agents of this implementation type').choices(implementationTypes);
}

function filtersOf(options: FilterOptions): AgentListFilters {
  const { workspace, protocol, type, state, ownerIssuer, ownerSubject } = options;
  return {
    ...(workspace === undefined ? {} : { workspaceId: workspace }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(type === undefined ? {} : { implementationType: type }),
    ...(state === undefined ? {} : { state }),
    ...(ownerIssuer === undefined ? {} : { ownerIssuer }),
    ...(ownerSubject === undefined ? {} : { ownerSubject }),
  };
}

async function listAgents(options: ListOptions): Promise<void> {
  const items = await openCatalogueClient(options).list(filtersOf(options), options.limit);
  writeNamed(formatOf(options), {
    value: { items },
    names: items.map(({ agentId }) => agentId),
    text: (isWide) => (items.length === 0 ? 'There is no agent.' : agentTable(items, isWide)),
  });
}

function agentTable(agents: readonly AgentRecord[], isWide: boolean): string {
  const heads = ['ID', 'NAME', 'WORKSPACE', 'PROTOCOL', 'STATE', 'CALL', ...(isWide ? ['DESCRIPTION'] : [])];
  const rows = agents.map((agent) => [
    agent.agentId,
    agent.name,
    agent.workspace,
    agent.protocol,
    agent.state,
    agent.invocationInterface === undefined ? 'no' : 'yes',
    ...(isWide ? [agent.description] : []),
  ]);
  return tableOf([heads, ...rows]);
}

async function showAgent(nameOrId: string, options: CatalogueOptions & OutputOptions): Promise<void> {
  const client = openCatalogueClient(options);
  const isId = z.uuid().safeParse(nameOrId).success;
  const agent = isId ? await client.get(nameOrId) : agentNamed(await agentsOfEveryState(client), nameOrId);
  writeNamed(formatOf(options), { value: agent, names: [agent.agentId], text: () => agentText(agent) });
}

/** A list without a state has the active agents only. */
async function agentsOfEveryState(client: CatalogueClient): Promise<readonly AgentRecord[]> {
  const lists: (readonly AgentRecord[])[] = [];
  for (const state of agentStates) lists.push(await client.list({ state }, mostWatched));
  return lists.flat();
}

/** The only agent with this name. @throws CliError not_found, usage with the ids of several */
export function agentNamed(agents: readonly AgentRecord[], name: string): AgentRecord {
  const found = new Map(agents.filter((agent) => agent.name === name).map((agent) => [agent.agentId, agent]));
  const [only, ...others] = found.values();
  if (only === undefined) {
    const names = agents.map((agent) => agent.name);
    const remedy = didYouMean(name, names) || ' "portcullis agents list" shows the names.';
    throw new CliError('not_found', `The caller has no agent named ${JSON.stringify(name)}.${remedy}`);
  }
  if (others.length === 0) return only;
  const ids = [...found.values()].map(({ agentId, workspace }) => `${agentId} (workspace ${workspace})`);
  throw new CliError(
    'usage',
    `${found.size} agents have the name ${JSON.stringify(name)}: give one id of ${ids.join(', ')}.`,
  );
}

function agentText(agent: AgentRecord): string {
  const { owner, skills, invocationInterface: address } = agent;
  const rows = [
    ['Id:', agent.agentId],
    ['Name:', agent.name],
    ['Description:', agent.description],
    ['Workspace:', agent.workspace],
    ['Owner:', `${owner.ownerIssuer}|${owner.ownerSubject}`],
    ['State:', agent.state],
    ['Version:', agent.versionId ?? 'none'],
    ['Protocol:', `${agent.protocol}, ${agent.implementationType}`],
    ['Address:', address === undefined ? 'not for this caller at present' : address.url],
    ...skills.map(({ name, description }) => ['Skill:', `${name}: ${description}`]),
  ];
  return tableOf(rows);
}

async function searchFor(query: string, options: SearchOptions): Promise<void> {
  const { workspace, protocol, type, profile, topK, minScore } = options;
  const found = await openCatalogueClient(options).search({
    query,
    workspaceId: workspace,
    topK,
    ...(protocol === undefined ? {} : { protocols: [protocol] }),
    ...(type === undefined ? {} : { implementationTypes: [type] }),
    ...(profile === undefined ? {} : { profile }),
    ...(minScore === undefined ? {} : { minScore }),
  });
  const { matches } = found;
  const text = (): string =>
    matches.length === 0
      ? 'No agent matches.'
      : tableOf([
          ['SCORE', 'ID', 'NAME', 'DESCRIPTION'],
          ...matches.map(({ score, agentId, name, description }) => [score.toFixed(2), agentId, name, description]),
        ]);
  writeNamed(formatOf(options), { value: found, names: matches.map(({ agentId }) => agentId), text });
}

async function followAgents(options: WatchOptions): Promise<void> {
  const client = openCatalogueClient(options);
  const { times = Number.POSITIVE_INFINITY, interval } = options;
  using interruption = untilInterrupted();
  await watchCatalogue({
    look: () => client.list(filtersOf(options), mostWatched),
    show: (line) => process.stdout.write(`${line}\n`),
    onBroken: (error) => {
      process.stderr.write(`A query failed; the next one follows: ${describeError(error).message}
`);
    },
    everyMs: interval * 1_000,
    times,
    signal: interruption.signal,
  });
}
