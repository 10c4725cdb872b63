import type { Command } from 'commander';
import type { CollectionResource } from '#resources/collection';
import { kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { readResource } from '../resources/read-resource.ts';
import { resourceKind } from '../resources/resource-kind.ts';
import type { OpenedResources, ResourceSource } from '../resources/resource-source.ts';
import { appliedByText } from '../status/applied-by.ts';
import { type Explanation, explainBinding } from '../why/explain-binding.ts';
import { type CollectionExplanation, explainCollection } from '../why/explain-collection.ts';
import { explained } from '../why/explained.ts';
import { gatherFacts } from '../why/gather-facts.ts';
import type { Link } from '../why/links.ts';

type WhyOptions = ResourceCommandOptions & OutputOptions;

export function addWhy(program: Command, source: ResourceSource): void {
  const command = program
    .command('why')
    .description('say why a binding is not applied, or a collection is not ready, and what to do')
    .argument('<binding>', 'name of the binding, or collection/NAME');
  withOutput(withResourceOptions(command, source)).action((name: string, options: WhyOptions) =>
    why(source, name, options),
  );
}

async function why(source: ResourceSource, name: string, options: WhyOptions): Promise<void> {
  await using resources = await source.open(options);
  const collection = collectionName(name);
  if (collection !== undefined) {
    const explanation = await explained(resources, () => explainOne(resources, collection, source.program));
    return writeResult(formatOf(options), explanation, () => collectionText(explanation));
  }
  const facts = await explained(resources, () => gatherFacts(resources, name));
  const explanation = explainBinding(facts, source.program);
  writeResult(formatOf(options), explanation, () => textOf(explanation));
}

/** The name in `collection/NAME`, with any word for the kind. @throws CliError usage for another kind */
function collectionName(word: string): string | undefined {
  const [kind = '', name] = word.split('/');
  if (name === undefined) return undefined;
  if (resourceKind(kind).kind === kinds.collection.kind) return name;
  throw new CliError(
    'usage',
    `${JSON.stringify(word)} cannot be explained: give the name of a binding, or collection/NAME.`,
  );
}

async function explainOne(
  { client, surroundings }: OpenedResources,
  name: string,
  program: string,
): Promise<CollectionExplanation> {
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

function collectionText({ summary, whatToDo, chain }: CollectionExplanation): string {
  return [summary, ...(whatToDo === undefined ? [] : [`What to do: ${whatToDo}`]), '', chainText(chain)].join('\n');
}

function chainText(chain: readonly Link[]): string {
  return tableOf(chain.map(({ state, part, reason = '-', message }) => [`  ${marks[state]}`, part, reason, message]));
}
