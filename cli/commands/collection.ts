import { type Command, Option } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { namedCollection } from '../retrieval/named-collection.ts';
import type { StoredCollection } from '../retrieval/retrieval-client.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';
import { addCollectionGrants } from './collection-grants.ts';

type CollectionOptions = RetrievalOptions & OutputOptions;
type CreateOptions = CollectionOptions & {
  readonly profile: string;
  readonly visibility: 'private' | 'public';
  readonly aclModel: 'document' | 'collection';
  readonly description?: string;
};
type ReindexOptions = CollectionOptions & { readonly profile?: string };

export function addCollection(program: Command): void {
  const collection = program.command('collection').description('collections of documents of the retrieval service');
  const create = collection
    .command('create')
    .description('create a collection; the caller becomes its owner')
    .argument('<name>', 'name of the collection, unique in the tenant')
    .option('--profile <id>', 'embedding profile of models.yaml', 'offline')
    .addOption(
      new Option('--visibility <visibility>', 'public: everyone in the tenant may search it')
        .choices(['private', 'public'])
        .default('private'),
    )
    .addOption(
      new Option('--acl-model <model>', 'where rights are set: on each document, or on the whole collection')
        .choices(['document', 'collection'])
        .default('document'),
    )
    .option('--description <text>', 'description for readers');
  withOutput(withRetrievalOptions(create)).action(createOne);
  withOutput(withRetrievalOptions(collection.command('list')))
    .description('list the collections that the caller may read')
    .action(list);
  const get = collection
    .command('get')
    .description('show a collection')
    .argument('<name>', 'name or id of the collection');
  withOutput(withRetrievalOptions(get)).action(show);
  const update = collection
    .command('update')
    .description('change the name, the description or the visibility of a collection')
    .argument('<name>', 'name or id of the collection')
    .option('--rename <name>', 'another name, unique in the tenant')
    .option('--description <text>', 'description for readers')
    .addOption(
      new Option('--visibility <visibility>', 'public: everyone in the tenant may search it').choices([
        'private',
        'public',
      ]),
    );
  withOutput(withRetrievalOptions(update)).action(updateOne);
  const remove = collection
    .command('delete')
    .description('delete a collection with all its documents')
    .argument('<name>', 'name or id of the collection');
  withConfirm(withOutput(withRetrievalOptions(remove))).action(deleteOne);
  addCollectionGrants(collection);
  const reindex = collection
    .command('reindex')
    .description('build a new index version beside the active one')
    .argument('<name>', 'name or id of the collection')
    .option('--profile <id>', 'another embedding profile of models.yaml');
  withOutput(withRetrievalOptions(reindex)).action(reindexOne);
}

async function createOne(name: string, options: CreateOptions): Promise<void> {
  const { profile, visibility, aclModel, description } = options;
  const created = await openRetrievalClient(options).createCollection({
    name,
    embedding_profile_id: profile,
    visibility,
    acl_model: aclModel,
    ...(description === undefined ? {} : { description }),
  });
  writeResult(formatOf(options), created, () => `Collection ${created.name} created.`);
}

async function list(options: CollectionOptions): Promise<void> {
  const found = await openRetrievalClient(options).listCollections();
  writeResult(formatOf(options), { items: found }, (isWide) =>
    found.length === 0 ? 'There is no collection that the caller may read.' : collectionTable(found, isWide),
  );
}

async function show(name: string, options: CollectionOptions): Promise<void> {
  const found = await namedCollection(openRetrievalClient(options), name);
  writeResult(formatOf(options), found, (isWide) => collectionTable([found], isWide));
}

type UpdateOptions = CollectionOptions & {
  readonly rename?: string;
  readonly description?: string;
  readonly visibility?: 'private' | 'public';
};

async function updateOne(name: string, options: UpdateOptions): Promise<void> {
  const { rename, description, visibility } = options;
  const change = {
    ...(rename === undefined ? {} : { name: rename }),
    ...(description === undefined ? {} : { description }),
    ...(visibility === undefined ? {} : { visibility }),
  };
  if (Object.keys(change).length === 0) {
    throw new CliError('usage', 'Name a change: --rename, --description or --visibility.');
  }
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, name);
  const updated = await client.updateCollection(id, change);
  writeResult(formatOf(options), updated, () => `Collection ${updated.name} updated.`);
}

async function deleteOne(name: string, options: CollectionOptions & ConfirmOption): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: id, doc_count: documents } = await namedCollection(client, name);
  await confirm([`The collection ${name} is deleted with its ${documents} documents.`], options);
  const deleted = await client.deleteCollection(id);
  writeResult(formatOf(options), deleted, () => `Collection ${deleted.name} deleted.`);
}

async function reindexOne(name: string, options: ReindexOptions): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, name);
  const started = await client.reindexCollection(id, options.profile);
  const version = started.reindex?.version ?? started.active_version;
  writeResult(formatOf(options), started, () => `Version ${version} of ${started.name} is being built.`);
}

function collectionTable(collections: readonly StoredCollection[], isWide: boolean): string {
  const header = ['NAME', 'STATUS', 'DOCUMENTS', 'CHUNKS', 'VERSION', 'VISIBILITY', 'REINDEX'];
  return tableOf([
    isWide ? [...header, 'ID', 'PROFILE'] : header,
    ...collections.map((one) => {
      const { name, status, doc_count, chunk_count, active_version, visibility, reindex } = one;
      const row = [name, status, String(doc_count), String(chunk_count), String(active_version), visibility];
      const progress =
        reindex === undefined ? '' : `${reindex.state} ${reindex.documents_done}/${reindex.documents_total}`;
      return [...row, progress, ...(isWide ? [one.collection_id, one.embedding_profile_id] : [])];
    }),
  ]);
}
