import { type Command, InvalidArgumentError, Option } from 'commander';
import { type RetrievalMode, retrievalLimits } from '#contracts/retrieval';
import { wholeNumber } from '../options/whole-number.ts';
import type { Search } from './retrieval-client.ts';

/** Options of a search. */
export type SearchOptions = {
  readonly collection: string;
  readonly mode?: RetrievalMode;
  readonly topK?: number;
  readonly rerank?: boolean;
  readonly rewrite?: boolean;
  readonly filter?: Readonly<Record<string, unknown>>;
};

export function withSearchOptions(command: Command): Command {
  const { min, max } = retrievalLimits.topK;
  return command
    .requiredOption('--collection <name>', 'collection that is searched')
    .addOption(
      new Option('--mode <mode>', 'words, vectors or both (default: the setting of the collection)').choices([
        'hybrid',
        'vector',
        'bm25',
      ]),
    )
    .option(
      '--top-k <number>',
      'maximum number of citations (default: the setting of the collection)',
      wholeNumber(min, max),
    )
    .option('--rerank', 'order the citations by the rerank profile of the collection')
    .option('--rewrite', 'let a model rewrite the question')
    .option(
      '--filter <json>',
      'condition on the documents, such as {"path":"metadata.source","op":"eq","value":"wiki"}',
      readJson,
    );
}

/** The body of a search. */
export function searchOf(text: string, { collection, mode, topK, rerank, rewrite, filter }: SearchOptions): Search {
  return {
    collection,
    text,
    ...(mode === undefined ? {} : { mode }),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(rerank === true ? { rerank } : {}),
    ...(rewrite === true ? { rewrite } : {}),
    ...(filter === undefined ? {} : { filters: filter }),
  };
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The problem is reported below.
  }
  throw new InvalidArgumentError('It must be a JSON object.');
}
