import type { Command } from 'commander';
import { appliedByText } from '#diagnosis/applied-by';
import { explainAgent } from '#diagnosis/explain-agent';
import { explainAgentVersion } from '#diagnosis/explain-agent-version';
import { type Explanation, explainBinding } from '#diagnosis/explain-binding';
import type { DeclaredExplanation } from '#diagnosis/explain-declared';
import type { Link } from '#diagnosis/links';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import type { CollectionResource } from '#resources/collection';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { absentResource } from '../resources/absent-resource.ts';
import { readResource } from '../resources/read-resource.ts';
import type { OpenedResources, ResourceSource } from '../resources/resource-source.ts';
import { readKindAndName } from '../selection/select.ts';
import { explainCollection } from '../why/explain-collection.ts';
import { explainPolicy } from '../why/explain-policy.ts';
import { gatherFacts } from '../why/gather-facts.ts';
import { overviewModelText } from '../why/overview-model-text.ts';
import { remedyElsewhere } from '../why/remedy-elsewhere.ts';

type WhyOptions = ResourceCommandOptions & OutputOptions;

/** The explanation of one resource: as a value for programs, and as text. */
type Explained = { readonly value: object; readonly text: string };

export function addWhy(program: Command, source: ResourceSource): void {
  const command = program
    .command('why')
    .description(
      'explain why a binding is not applied, or a policy, collection, agent or version of an agent is not ready, and print the remedy',
    )
    .argument('<binding...>', 'names of bindings; policy/NAME, collection/NAME, agent/NAME or agentversion/NAME');
  withUnnamedOutput(withResourceOptions(command, source)).action((names: readonly string[], options: WhyOptions) =>
    why(source, names, options),
  );
}

/** Every name is read before anything is written, so that a name that does not exist leaves no part of an answer. */
async function why(source: ResourceSource, names: readonly string[], options: WhyOptions): Promise<void> {
  const targets = names.map(resourceOf);
  await using resources = await source.open(options);
  const explained: Explained[] = [];
  for (const target of targets)
    explained.push(await explain(resources, target, { ...options, program: source.program }));
  const values = explained.map(({ value }) => value);
  writeResult(formatOf(options), values.length === 1 ? values[0] : values, () =>
    explained.map(({ text }) => text).join('\n\n'),
  );
}

async function explain(
  resources: OpenedResources,
  target: DeclaredResource | string,
  options: WhyOptions & { readonly program: string },
): Promise<Explained> {
  if (typeof target !== 'string') {
    const value = placed(await explainOne(resources, target, options.program), options);
    return { value, text: declaredText(value) };
  }
  if (resources.overview !== undefined) {
    const { models } = await resources.overview();
    const found = models.find((one) => one.name === target);
    if (found === undefined) throw await absentResource(resources.client, kinds.modelBinding, target);
    const { whatToDo } = found;
    const value = { ...found, whatToDo: whatToDo === null ? null : remedyElsewhere(whatToDo, options) };
    return { value, text: overviewModelText(value) };
  }
  const value = placed(explainBinding(await gatherFacts(resources, target), options.program), options);
  return { value, text: textOf(value) };
}

/** The explanation with a remedy whose commands reach the same platform. */
function placed<E extends { readonly whatToDo?: string }>(explanation: E, options: WhyOptions): E {
  const { whatToDo } = explanation;
  return whatToDo === undefined ? explanation : { ...explanation, whatToDo: remedyElsewhere(whatToDo, options) };
}

const declaredKinds = ['GuardrailPolicy', 'Collection', 'Agent', 'AgentVersion'] as const;
type DeclaredResource = { readonly kind: (typeof declaredKinds)[number]; readonly name: string };

/** The resource of KIND/NAME, with any word for the kind; the name alone for a binding. @throws CliError usage */
function resourceOf(word: string): DeclaredResource | string {
  if (!word.includes('/')) return word;
  const {
    kind: { kind },
    name,
  } = readKindAndName(word);
  if (kind === kinds.modelBinding.kind) return name;
  const declared = declaredKinds.find((one) => one === kind);
  if (declared !== undefined) return { kind: declared, name };
  throw new CliError(
    'usage',
    `${JSON.stringify(word)} cannot be explained: give the name of a binding, policy/NAME, collection/NAME, agent/NAME or agentversion/NAME.`,
  );
}

async function explainOne(
  { client, surroundings, overview }: OpenedResources,
  { kind, name }: DeclaredResource,
  program: string,
): Promise<DeclaredExplanation<string>> {
  if (kind === 'GuardrailPolicy') {
    const found = await readResource<GuardrailPolicy>(client, kinds.guardrailPolicy, name);
    // The management API does not show the processes of the installation.
    return explainPolicy(found, overview === undefined ? await surroundings() : undefined, program);
  }
  if (kind === 'Agent') {
    const found = await readResource<Agent>(client, kinds.agent, name);
    const { version } = found.status?.served ?? {};
    const served = version === undefined ? undefined : await client.get<AgentVersion>(kinds.agentVersion, version);
    return explainAgent(found, await surroundings(), program, served);
  }
  if (kind === 'AgentVersion') {
    const found = await readResource<AgentVersion>(client, kinds.agentVersion, name);
    return explainAgentVersion(found, await surroundings(), program);
  }
  const found = await readResource<CollectionResource>(client, kinds.collection, name);
  return explainCollection(found, await surroundings(), program);
}

const marks: Readonly<Record<Link['state'], string>> = { well: 'ok', open: 'waits', fault: 'FAULT', aside: '-' };

function textOf({ summary, whatToDo, serves, appliedBy, chain }: Explanation): string {
  return [
    summary,
    ...(whatToDo === undefined ? [] : [`What to do: ${whatToDo}`]),
    `Served now: ${serves}.`,
    ...(appliedBy === undefined ? [] : [`Applied by: ${appliedByText(appliedBy)}`]),
    '',
    chainText(chain),
  ].join('\n');
}

function declaredText({ summary, whatToDo, chain }: DeclaredExplanation<string>): string {
  return [summary, ...(whatToDo === undefined ? [] : [`What to do: ${whatToDo}`]), '', chainText(chain)].join('\n');
}

function chainText(chain: readonly Link[]): string {
  return tableOf(chain.map(({ state, part, reason = '-', message }) => [`  ${marks[state]}`, part, reason, message]));
}
