import type { Command } from 'commander';
import { type AllowOptions, withAllowOptions } from '../documents/allow-options.ts';
import { CliError } from '../errors/cli-error.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { escapeLine } from '../output/write.ts';
import { changeEach, refuseUnchanged, unchangedSentence } from '../retrieval/change-each.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';

type ShareOptions = RetrievalOptions & OutputOptions & AllowOptions & { readonly collection: string };

/** Adds `share` to the command `documents`. */
export function addDocumentShare(documents: Command): void {
  const share = documents
    .command('share')
    .description('replace the access list of documents; it takes effect with the next request')
    .argument('<ids...>', 'ids of the documents')
    .requiredOption('--collection <name>', 'collection of the documents');
  withUnnamedOutput(withRetrievalOptions(withAllowOptions(share))).action(shareDocuments);
}

async function shareDocuments(ids: readonly string[], options: ShareOptions): Promise<void> {
  const { allowGroup: groups = [], allowPerson: principals = [], collection } = options;
  if (groups.length + principals.length === 0) {
    throw new CliError('usage', '"documents share" needs a reader: --allow-group NAME or --allow-person NAME.');
  }
  const client = openRetrievalClient(options);
  const acl = { groups: [...groups], principals: [...principals] };
  const shared = await changeEach(ids, 'shared', (doc_id) => client.changeDocumentAcl({ collection, doc_id, acl }));
  const items = shared.changes.map((one) => ('value' in one ? one.value : { doc_id: one.id, reason: one.reason }));
  const readers = [...groups.map((name) => `the group ${name}`), ...principals.map((name) => `the person ${name}`)];
  writeResult(formatOf(options), { items }, () =>
    shared.changes
      .map((one) =>
        'value' in one
          ? `Document ${one.id} is shared with ${readers.join(', ')}.`
          : unchangedSentence(one, {
              object: `document ${one.id}`,
              done: 'shared',
              kept: `Document ${one.id} is shared as before`,
            }),
      )
      .map(escapeLine)
      .join('\n'),
  );
  refuseUnchanged(shared, 'documents were not shared');
}
