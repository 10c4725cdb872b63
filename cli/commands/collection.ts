import { type Command, Option } from 'commander';
import { retrievalLimits } from '#contracts/retrieval';
import { CliError } from '../errors/cli-error.ts';
import { confirmOnTerminal } from '../options/confirm-on-terminal.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import { type DefaultsOptions, defaultsOf, withDefaultsOptions } from '../retrieval/collection-options.ts';
import { namedCollection } from '../retrieval/named-collection.ts';
import type { StoredCollection } from '../retrieval/retrieval-client.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';
import { addCollectionGrants } from './collection-grants.ts';

type CollectionOptions = RetrievalOptions & OutputOptions;
type CreateOptions = CollectionOptions &
  DefaultsOptions & {
    readonly profile: string;
    readonly visibility: 'private' | 'public';
    readonly aclModel: 'document' | 'collection';
    readonly type?: 'knowledge_base' | 'documents' | 'files';
    readonly parent?: string;
    readonly chunkSize?: number;
    readonly chunkOverlap?: number;
    readonly description?: string;
  };
type ReindexOptions = CollectionOptions & { readonly profile?: string };

const { chunkSize, chunkOverlap } = retrievalLimits;

export function addCollection(program: Command): void {
  const collection = program
    .command('collection')
    .description(
      'collections of documents of the retrieval service, as a person; "get collections" shows the resources of the platform',
    );
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
    .addOption(
      new Option('--type <type>', 'kind of the collection, for its readers').choices([
        'knowledge_base',
        'documents',
        'files',
      ]),
    )
    .option(
      '--parent <name>',
      'parent collection, whose readers can read this one; the caller needs the right to write the parent',
    )
    .option('--chunk-size <characters>', 'longest chunk', wholeNumber(chunkSize.min, chunkSize.max))
    .option(
      '--chunk-overlap <characters>',
      'at most half of the size',
      wholeNumber(chunkOverlap.min, chunkSize.max / 2),
    )
    .option('--description <text>', 'description for readers');
  withOutput(withRetrievalOptions(withDefaultsOptions(create))).action(createOne);
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
    .description(
      'change the name, the description, the visibility or the defaults of a collection; asks at a terminal before it makes the collection public',
    )
    .argument('<name>', 'name or id of the collection')
    .option('--rename <name>', 'another name, unique in the tenant')
    .option('--description <text>', 'description for readers')
    .addOption(
      new Option('--visibility <visibility>', 'public: everyone in the tenant may search it').choices([
        'private',
        'public',
      ]),
    );
  withConfirm(withOutput(withRetrievalOptions(withDefaultsOptions(update)))).action(updateOne);
  const move = collection
    .command('move')
    .description('move a collection below another one, or to the top level')
    .argument('<name>', 'name or id of the collection')
    .option(
      '--parent <name>',
      'parent collection, whose readers can read this one; the caller needs the right to write the parent',
    )
    .option('--no-parent', 'no parent collection');
  withOutput(withRetrievalOptions(move)).action(moveOne);
  const remove = collection
    .command('delete')
    .description('delete a collection with all its documents')
    .argument('<name>', 'name or id of the collection');
  withConfirm(withOutput(withRetrievalOptions(remove))).action(deleteOne);
  addCollectionGrants(collection);
  const reindex = collection
    .command('reindex')
    .description('build a new index version while the active one serves')
    .argument('<name>', 'name or id of the collection')
    .option('--profile <id>', 'another embedding profile of models.yaml');
  withOutput(withRetrievalOptions(reindex)).action(reindexOne);
}

async function createOne(name: string, options: CreateOptions): Promise<void> {
  const { profile, visibility, aclModel, description, type, parent } = options;
  const client = openRetrievalClient(options);
  const created = await client.createCollection({
    name,
    embedding_profile_id: profile,
    visibility,
    acl_model: aclModel,
    ...(description === undefined ? {} : { description }),
    ...(type === undefined ? {} : { collection_type: type }),
    ...(parent === undefined ? {} : { parent_id: (await namedCollection(client, parent)).collection_id }),
    ...chunkingOf(options),
    ...defaultsOf(options),
  });
  writeCollection(options, created, () => `Collection ${created.name} created.`);
}

function chunkingOf({ chunkSize: size, chunkOverlap: overlap }: CreateOptions) {
  if (size === undefined && overlap === undefined) return {};
  return {
    chunking: { ...(size === undefined ? {} : { size }), ...(overlap === undefined ? {} : { overlap }) },
  };
}

async function list(options: CollectionOptions): Promise<void> {
  const found = await openRetrievalClient(options).listCollections();
  writeNamed(formatOf(options), {
    value: { items: found },
    names: found.map(({ name }) => name),
    text: (isWide) =>
      found.length === 0 ? 'There is no collection that the caller may read.' : collectionTable(found, isWide),
  });
}

async function show(name: string, options: CollectionOptions): Promise<void> {
  const found = await namedCollection(openRetrievalClient(options), name);
  writeCollection(options, found, (isWide) => collectionTable([found], isWide));
}

type UpdateOptions = CollectionOptions &
  ConfirmOption &
  DefaultsOptions & {
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
  if (Object.keys({ ...change, ...defaultsOf(options) }).length === 0) {
    throw new CliError('usage', 'Name a change: an option such as --rename, --description, --visibility or --top-k.');
  }
  const client = openRetrievalClient(options);
  const { collection_id: id, retrieval_defaults: before, visibility: seen } = await namedCollection(client, name);
  if (visibility === 'public' && seen !== 'public') {
    await confirmOnTerminal([`Everyone in the tenant could search the collection ${name}.`], options);
  }
  const updated = await client.updateCollection(id, { ...change, ...defaultsOf(options, before) });
  writeCollection(options, updated, () => `Collection ${updated.name} updated.`);
}

async function moveOne(name: string, options: CollectionOptions & { readonly parent?: string | false }): Promise<void> {
  const { parent } = options;
  if (parent === undefined)
    throw new CliError('usage', '"collection move" needs the new parent: --parent NAME, or --no-parent for none.');
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, name);
  const above = parent === false ? null : (await namedCollection(client, parent)).collection_id;
  const moved = await client.moveCollection(id, above);
  writeCollection(options, moved, () =>
    parent === false ? `${moved.name} has no parent collection.` : `Collection ${moved.name} is below ${parent}.`,
  );
}

async function deleteOne(name: string, options: CollectionOptions & ConfirmOption): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: id, doc_count: documents } = await namedCollection(client, name);
  await confirm([`The collection ${name} is deleted with its ${documents} documents.`], options);
  const deleted = await client.deleteCollection(id);
  writeCollection(options, deleted, () => `Collection ${deleted.name} deleted.`);
}

async function reindexOne(name: string, options: ReindexOptions): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, name);
  const started = await client.reindexCollection(id, options.profile);
  const version = started.reindex?.version ?? started.active_version;
  writeCollection(options, started, () => `Version ${version} of ${started.name} is being built.`);
}

function writeCollection(
  options: OutputOptions,
  value: { readonly name: string },
  text: (isWide: boolean) => string,
): void {
  writeNamed(formatOf(options), { value, names: [value.name], text });
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
