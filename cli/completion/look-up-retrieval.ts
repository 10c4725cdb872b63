import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
import { openRetrievalClient } from '../retrieval/retrieval-options.ts';
import { callerOf, type PartialLine } from './read-line.ts';

/** Maximum number of words in one completion, of jobs of one collection, and of collections whose jobs are listed. */
const most = { words: 1_000, jobs: 50, collections: 20 } as const;

type Find = (client: RetrievalClient, line: PartialLine) => Promise<readonly string[]>;

/** Finds words that the retrieval service provides: collections, documents and jobs. */
export function retrievalFinder(placeholder: string, { command, open }: PartialLine): Find | undefined {
  const words = `${command.parent?.name()} ${command.name()}`;
  if (open !== undefined) {
    const isCollection = open.long === '--collection' || (open.long === '--parent' && words.startsWith('collection '));
    return isCollection ? collectionNames : undefined;
  }
  if (words.startsWith('collection ') && placeholder === 'name') {
    return words === 'collection create' ? undefined : collectionNames;
  }
  if (words === 'documents delete' || words === 'documents share') return documentIds;
  if (words === 'jobs get') return (client) => jobIds(client, [undefined]);
  if (words !== 'jobs replay') return undefined;
  return (client, line) => jobIds(client, ['FAILED', 'DEAD_LETTER']).then((ids) => withoutGiven(ids, line));
}

/**
 * Queries the service that the command line names, as the caller that it names. @throws CliError, the errors of the
 * client
 */
export function findInRetrieval(find: Find, line: PartialLine, requestTimeout: number): Promise<readonly string[]> {
  const { groups } = line.options;
  const client = openRetrievalClient({
    ...callerOf(line),
    ...(groups === undefined ? {} : { groups: groups.split(',').map((name) => name.trim()) }),
    requestTimeout,
  });
  return find(client, line);
}

async function collectionNames(client: RetrievalClient): Promise<readonly string[]> {
  return (await client.listCollections()).map(({ name }) => name);
}

async function documentIds(client: RetrievalClient, line: PartialLine): Promise<readonly string[]> {
  const { collection } = line.options;
  const all = await client.listCollections();
  const named = all.find(({ name, collection_id: id }) => name === collection || id === collection);
  if (named === undefined) return [];
  const documents = await client.listDocuments(named.collection_id, most.words);
  return withoutGiven(
    documents.map(({ doc_id: id }) => id),
    line,
  );
}

/** The newest jobs of the collections that the caller may write to. */
async function jobIds(client: RetrievalClient, states: readonly (string | undefined)[]): Promise<readonly string[]> {
  const collections = (await client.listCollections()).slice(0, most.collections);
  const lists = collections.flatMap(({ collection_id: id }) =>
    states.map((state) => client.listJobs(id, state, most.jobs).catch(() => [])),
  );
  return [...new Set((await Promise.all(lists)).flat().map(({ job_id: id }) => id))];
}

function withoutGiven(words: readonly string[], { operands }: PartialLine): readonly string[] {
  return words.filter((word) => !operands.includes(word));
}
