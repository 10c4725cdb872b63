import type { CollectionResource } from '#resources/collection';
import type { Stored } from '#resources/metadata';
import { sentence } from '../output/sentence.ts';
import type { Surroundings } from '../resources/resource-source.ts';
import { type CollectionState, collectionState } from '../status/collection-row.ts';
import { adviceFor } from './advice.ts';
import { type Link, operatorLink } from './links.ts';

export type CollectionExplanation = {
  readonly collection: string;
  readonly state: CollectionState;
  /** The first cause in one sentence, or that the collection is ready. */
  readonly summary: string;
  /** The first cause; absent when nothing is wrong. */
  readonly cause?: Link;
  readonly whatToDo?: string;
  /** From the operator to the version that answers queries. */
  readonly chain: readonly Link[];
};

/** Explains whether a collection is as its resource declares it and, if not, why. Pure. */
export function explainCollection(
  resource: Stored<CollectionResource>,
  surroundings: Surroundings,
  program: string,
): CollectionExplanation {
  const { name } = resource.metadata;
  const state = collectionState(resource);
  const chain = [
    operatorLink({ surroundings }),
    linkOf(resource, 'Accepted', 'Accepted'),
    linkOf(resource, 'Collection', 'Synced'),
    linkOf(resource, 'Profile', 'ProfileActive'),
    linkOf(resource, 'Ready', 'Ready'),
  ];
  const cause = causeOf(chain);
  const names = { program, binding: '', policy: '' };
  const whatToDo = cause === undefined ? undefined : adviceFor(cause.reason ?? '', names);
  return {
    collection: name,
    state,
    summary: `Collection ${name} is ${stateWords[state]}${cause === undefined ? '.' : `: ${cause.message}`}`,
    ...(cause === undefined ? {} : { cause }),
    ...(whatToDo === undefined ? {} : { whatToDo }),
    chain,
  };
}

const stateWords: Readonly<Record<CollectionState, string>> = {
  ready: 'ready',
  reindexing: 'ready, and a new version is built',
  faulty: 'not ready',
  waiting: 'not looked at yet',
  deleting: 'being deleted',
};

/** Without an operator nothing that is still open goes on. */
function causeOf([operator, ...conditions]: readonly Link[]): Link | undefined {
  const first = conditions.find(({ state }) => state === 'fault' || state === 'open');
  return first?.state === 'open' && operator?.state === 'fault' ? operator : first;
}

function linkOf({ metadata, status }: Stored<CollectionResource>, part: string, type: string): Link {
  const condition = status?.conditions?.find((one) => one.type === type);
  // The service was not asked, so that an earlier condition comes first.
  if (type === 'ProfileActive' && condition?.observedGeneration !== metadata.generation) {
    return { part, state: 'aside', reason: 'NotLookedAt', message: 'It is not known which profile is active.' };
  }
  if (condition?.observedGeneration !== metadata.generation) {
    const message = `The operator has not processed generation ${metadata.generation} of the collection yet.`;
    return { part, state: 'open', reason: 'NotLookedAt', message };
  }
  const { reason } = condition;
  const message = sentence(condition.message);
  if (reason === 'ReindexFailed') return { part, state: 'fault', reason, message };
  if (reason === 'Reindexing') return { part, state: 'aside', reason, message };
  if (condition.status === 'True') return { part, state: 'well', message };
  return { part, state: condition.status === 'False' ? 'fault' : 'open', reason, message };
}
