import type { Command } from 'commander';
import type { Citation } from '#contracts/retrieval';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { markedContent } from '../retrieval/marked-words.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';
import { type SearchOptions, searchOf, withSearchOptions } from '../retrieval/search-options.ts';

type QueryOptions = RetrievalOptions & SearchOptions & OutputOptions & { readonly highlight?: boolean };

export function addQuery(program: Command): void {
  const command = program
    .command('query')
    .description('search the documents that the caller may read, and show the citations')
    .argument('<text>', 'question or words')
    .option('--highlight', 'show the words of the question between asterisks');
  withUnnamedOutput(withRetrievalOptions(withSearchOptions(command))).action(query);
}

async function query(text: string, options: QueryOptions): Promise<void> {
  const found = await openRetrievalClient(options).query({
    ...searchOf(text, options),
    ...(options.highlight === true ? { highlight: true } : {}),
  });
  writeResult(formatOf(options), found, (isWide) =>
    found.items.length === 0
      ? 'No document that the caller may read matches.'
      : found.items.map((item, at) => citationText(item, at + 1, isWide)).join('\n\n'),
  );
}

const excerptLength = 300;

/** A citation in at least two lines: its place, and the beginning of its text. */
function citationText(citation: Citation, at: number, isWide: boolean): string {
  const { doc_id, heading, page, score, source_url } = citation;
  const content = markedContent(citation);
  const place = [doc_id, heading, page === null ? null : `page ${page}`].filter((part) => part !== null).join(', ');
  const text = isWide ? content : excerptOf(content);
  const link = source_url === null ? [] : [`   ${source_url}`];
  return [`${at}. ${place} (${score.toFixed(4)})`, ...link, `   ${text.replaceAll('\n', '\n   ')}`].join('\n');
}

function excerptOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= excerptLength ? line : `${line.slice(0, excerptLength).trimEnd()}…`;
}
