import { checksLink } from '#diagnosis/checks-link';
import { type DeclaredExplanation, declaredLink, explainDeclared } from '#diagnosis/explain-declared';
import { type Link, operatorLink } from '#diagnosis/links';
import { sentence } from '#diagnosis/sentence';
import type { Surroundings } from '#diagnosis/surroundings';
import type { CollectionResource } from '#resources/collection';
import type { Stored } from '#resources/metadata';
import { quoteWord } from '../command-line/quote-word.ts';
import { type CollectionState, collectionState } from '../status/collection-row.ts';

type CollectionExplanation = DeclaredExplanation<CollectionState> & { readonly collection: string };

/** Explains whether a collection is as its resource declares it and, if not, why. Pure. */
export function explainCollection(
  resource: Stored<CollectionResource>,
  surroundings: Surroundings,
  program: string,
): CollectionExplanation {
  const { name } = resource.metadata;
  const chain = [
    operatorLink({ surroundings }),
    declaredLink(resource, 'Accepted', 'Accepted'),
    declaredLink(resource, 'Collection', 'Synced'),
    profileLink(resource),
    declaredLink(resource, 'Ready', 'Ready'),
    ...checksLink(resource),
  ];
  const state = collectionState(resource);
  const { whatToDo, ...explanation } = explainDeclared({
    title: `Collection ${name}`,
    state,
    stateWords,
    chain,
    program,
  });
  // The remedy names the command for any collection; the retrieval service identifies it by spec.name.
  const remedy = whatToDo?.replace('reindex NAME', `reindex ${quoteWord(resource.spec.name)}`);
  return { collection: name, ...explanation, ...(remedy === undefined ? {} : { whatToDo: remedy }) };
}

const stateWords: Readonly<Record<CollectionState, string>> = {
  ready: 'ready',
  reindexing: 'ready, and a new version is built',
  faulty: 'not ready',
  waiting: 'not processed yet',
  deleting: 'being deleted',
};

/**
 * The link for the condition `ProfileActive`. The link is not a fault while the condition belongs to an earlier
 * generation, nor during a reindex, while the previous version serves.
 */
function profileLink(resource: Stored<CollectionResource>): Link {
  const part = 'Profile';
  const { metadata, status } = resource;
  const condition = status?.conditions?.find(({ type }) => type === 'ProfileActive');
  if (condition?.observedGeneration !== metadata.generation) {
    return { part, state: 'aside', reason: 'NotLookedAt', message: 'It is not known which profile is active.' };
  }
  const { reason } = condition;
  if (reason === 'Reindexing') return { part, state: 'aside', reason, message: sentence(condition.message) };
  if (reason === 'ReindexFailed') return { part, state: 'fault', reason, message: sentence(condition.message) };
  return declaredLink(resource, part, 'ProfileActive');
}
