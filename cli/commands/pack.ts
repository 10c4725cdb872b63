import type { Command } from 'commander';
import { retrievalLimits } from '#contracts/retrieval';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';
import { type SearchOptions, searchOf, withSearchOptions } from '../retrieval/search-options.ts';

type PackOptions = RetrievalOptions & SearchOptions & OutputOptions & { readonly budget: number };

export function addPack(program: Command): void {
  const { min, max } = retrievalLimits.tokenBudget;
  const command = program
    .command('pack')
    .description('search, and pack the result into one text within a number of tokens')
    .argument('<text>', 'question or words')
    .requiredOption('--budget <tokens>', 'maximum number of tokens of the text', wholeNumber(min, max));
  withUnnamedOutput(withRetrievalOptions(withSearchOptions(command))).action(pack);
}

async function pack(text: string, options: PackOptions): Promise<void> {
  const packed = await openRetrievalClient(options).retrieveAndPack({
    ...searchOf(text, options),
    token_budget: options.budget,
  });
  writeResult(formatOf(options), packed, () => packed.packed_context);
}
