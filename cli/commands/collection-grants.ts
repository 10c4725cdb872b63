import type { Command } from 'commander';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { type HolderOptions, holderCells, holderOf, withHolderOptions } from '../retrieval/holder-options.ts';
import { namedCollection } from '../retrieval/named-collection.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';

type GrantOptions = RetrievalOptions & OutputOptions;
type ChangeOptions = GrantOptions & HolderOptions & { readonly write?: boolean };

/** Adds `grants`, `grant` and `revoke` to the command `collection`. */
export function addCollectionGrants(collection: Command): void {
  const list = collection
    .command('grants')
    .description('list the owners, writers and readers of a collection')
    .argument('<name>', 'name or id of the collection');
  withUnnamedOutput(withRetrievalOptions(list)).action(listGrants);
  for (const [verb, description] of [
    ['grant', 'let a person, an agent or a group search a collection'],
    ['revoke', 'revoke a grant; takes effect with the next request'],
  ] as const) {
    const named = collection.command(verb).description(description).argument('<name>', 'name or id of the collection');
    const command = withHolderOptions(named).option(
      '--write',
      'the right to submit and delete documents, which includes searching',
    );
    withUnnamedOutput(withRetrievalOptions(command)).action((name: string, options: ChangeOptions) =>
      changeGrant(verb, name, options),
    );
  }
}

async function listGrants(name: string, options: GrantOptions): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, name);
  const { grants } = await client.listGrants(id);
  writeResult(formatOf(options), { items: grants }, () =>
    tableOf([['RELATION', 'HOLDER', 'NAME'], ...grants.map((grant) => [grant.relation, ...holderCells(grant)])]),
  );
}

async function changeGrant(verb: 'grant' | 'revoke', name: string, options: ChangeOptions): Promise<void> {
  const holder = holderOf(options, `collection ${verb}`);
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, name);
  const relation = options.write === true ? 'writer' : 'reader';
  const changed = await client.changeGrant(id, verb, { relation, ...holder });
  writeResult(formatOf(options), changed, () => {
    const [kind = '', named = ''] = holderCells(holder);
    return verb === 'grant'
      ? `The ${kind} ${named} is a ${relation} of ${name}.`
      : `Removed the direct grant: the ${kind} ${named} is no longer a ${relation} of ${name}, unless another grant gives the right.`;
  });
}
