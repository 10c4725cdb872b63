import { isCollectionId } from '#contracts/retrieval';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import type { RetrievalClient, StoredCollection } from './retrieval-client.ts';

/** The collection of a name or an id. @throws CliError not_found with similar names that the caller may read */
export async function namedCollection(
  client: Pick<RetrievalClient, 'getCollection' | 'listCollections'>,
  name: string,
): Promise<StoredCollection> {
  if (isCollectionId(name)) return client.getCollection(name);
  const all = await client.listCollections();
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = all.map((one) => one.name);
  const meant =
    didYouMean(name, names) || ' "portcullis get collections" shows those that are resources of the platform.';
  throw new CliError('not_found', `There is no collection ${name} that the caller may read.${meant}`);
}
