import type { Command } from 'commander';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { appliedByText } from '../status/applied-by.ts';
import { type Explanation, explainBinding } from '../why/explain-binding.ts';
import { explained } from '../why/explained.ts';
import { gatherFacts } from '../why/gather-facts.ts';
import type { Link } from '../why/links.ts';

type WhyOptions = ResourceCommandOptions & OutputOptions;

export function addWhy(program: Command, source: ResourceSource): void {
  const command = program
    .command('why')
    .description('say why a binding is not applied, and what to do')
    .argument('<binding>', 'name of the binding');
  withOutput(withResourceOptions(command, source)).action((name: string, options: WhyOptions) =>
    why(source, name, options),
  );
}

async function why(source: ResourceSource, name: string, options: WhyOptions): Promise<void> {
  await using resources = await source.open(options);
  const facts = await explained(resources, () => gatherFacts(resources, name));
  const explanation = explainBinding(facts, source.program);
  writeResult(formatOf(options), explanation, () => textOf(explanation));
}

const marks: Readonly<Record<Link['state'], string>> = { well: 'ok', open: 'waits', fault: 'FAULT', aside: '-' };

function textOf({ summary, whatToDo, serves, appliedBy, chain }: Explanation): string {
  const rows = chain.map(({ state, part, reason = '-', message }) => [`  ${marks[state]}`, part, reason, message]);
  return [
    summary,
    ...(whatToDo === undefined ? [] : [`What to do: ${whatToDo}`]),
    `Served now: ${serves}.`,
    ...(appliedBy === undefined ? [] : [`Applied by: ${appliedByText(appliedBy)}`]),
    '',
    tableOf(rows),
  ].join('\n');
}
