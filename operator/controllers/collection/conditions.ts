import type { FailingProvider } from '#contracts/failing-provider';
import { type ManagedConflict, managedConflicts } from '#contracts/managed-collections';
import { describeProviderProblem, providerProblems } from '#contracts/provider-causes';
import type { Collection } from '#contracts/retrieval';
import type { ConditionChange } from '#kube/apply/conditions';
import type { AwayReason } from '../../collections/ports.ts';
import type { CollectionResult } from './decide.ts';

type Aspect = Omit<ConditionChange, 'observedGeneration'>;

/**
 * The conditions of a collection at the end of a pass, summary first. `ProfileActive` and `ProviderReachable`
 * are about the collection in the service: they keep their values while the service is not called or does not answer.
 */
export function collectionConditions(
  result: CollectionResult,
  wantedProfile: string,
  observedGeneration: number,
): readonly ConditionChange[] {
  const accepted = acceptedOf(result);
  const synced = syncedOf(result);
  const observed =
    result.kind === 'ensured'
      ? [profileOf(result.collection, wantedProfile), providersOf(result.failingProviders)]
      : [];
  return [readyOf(result, accepted, synced), accepted, synced, ...observed].map((aspect) => ({
    ...aspect,
    observedGeneration,
  }));
}

function acceptedOf(result: CollectionResult): Aspect {
  const no = { type: 'Accepted', status: 'False' } as const;
  switch (result.kind) {
    case 'not_configured':
      return {
        ...no,
        reason: 'RetrievalNotConfigured',
        message: 'This installation has no retrieval service for collections of resources.',
      };
    case 'tenant_not_approved':
      return {
        ...no,
        reason: 'TenantNotApproved',
        message: 'The installation does not approve this tenant for collections of resources.',
      };
    case 'refused':
      if (result.member === 'embedding_profile_id') {
        return {
          ...no,
          reason: 'ProfileUnknown',
          message: 'embeddingProfile is not an approved embedding profile of the retrieval service.',
        };
      }
      return { ...no, reason: 'Refused', message: 'The retrieval service refuses the spec of this resource.' };
    case 'away':
    case 'conflict':
    case 'has_children':
    case 'ensured':
      return { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'The tenant is approved.' };
  }
}

function syncedOf(result: CollectionResult): Aspect {
  const no = { type: 'Synced', status: 'False' } as const;
  switch (result.kind) {
    case 'refused':
      if (result.member === 'embedding_profile_id') {
        const message = 'A new collection is not created; an existing one keeps its profile and has the other values.';
        return { ...no, reason: 'NotAccepted', message };
      }
      return { ...no, reason: 'NotAccepted', message: 'The collection is not changed.' };
    case 'not_configured':
    case 'tenant_not_approved':
      return { ...no, reason: 'NotAccepted', message: 'The collection is not changed.' };
    case 'away':
      return {
        ...no,
        reason: 'RetrievalUnavailable',
        message: `${awaySentences[result.why]} The operator will try again.`,
      };
    case 'conflict':
      return { ...no, ...conflictOf(result.over) };
    case 'has_children':
      return {
        ...no,
        reason: 'HasChildren',
        message: 'The collection has child collections: move or delete them, then this one is deleted.',
      };
    case 'ensured':
      return {
        type: 'Synced',
        status: 'True',
        reason: 'Synced',
        message: 'The collection has the values of the spec.',
      };
  }
}

/** The remedies are described in docs/custom-resources.md. */
export const awaySentences: Readonly<Record<AwayReason, string>> = {
  no_answer: 'The retrieval service does not answer.',
  failed: 'The retrieval service failed.',
  unauthorized: 'The retrieval service refuses the service token of the operator.',
  no_token: 'The operator cannot read its service token for the retrieval service.',
  invalid_answer: 'The retrieval service gave an answer that is not valid.',
};

const conflictReasons = {
  name: 'NameTaken',
  collection_id: 'IdUsed',
  adopt: 'NothingToTakeOver',
  manager: 'NotManaged',
  owner: 'OwnerDiffers',
  children: 'HasChildren',
  parent_id: 'ParentNotWritable',
  parent_tree: 'ParentNotPossible',
  embedding_profile_id: 'IndexFull',
  collection_type: 'TypeDiffers',
  acl_model: 'AclModelDiffers',
  chunking: 'ChunkingDiffers',
} as const satisfies Record<ManagedConflict, string>;

function conflictOf(over: ManagedConflict): Pick<Aspect, 'reason' | 'message'> {
  const sentence = managedConflicts[over];
  const message =
    over === 'embedding_profile_id'
      ? `The collection keeps its profile and has the other values of the spec: ${sentence}.`
      : `The collection is not changed because of ${wireNames[over]}: ${sentence}.`;
  return { reason: conflictReasons[over], message };
}

/** The member of the spec that a conflict is about. */
const wireNames = {
  name: 'its name',
  collection_id: 'its id',
  adopt: 'its source',
  manager: 'its manager',
  owner: 'its owner',
  children: 'its children',
  parent_id: 'its parent',
  parent_tree: 'its parent',
  embedding_profile_id: 'its profile',
  collection_type: 'its type',
  acl_model: 'its aclModel',
  chunking: 'its chunking',
} as const satisfies Record<ManagedConflict, string>;

function profileOf({ embedding_profile_id: active, reindex }: Collection, wanted: string): Aspect {
  const type = 'ProfileActive';
  if (active === wanted && reindex === undefined) {
    return { type, status: 'True', reason: 'Active', message: 'The active version has the profile of the spec.' };
  }
  if (reindex?.state === 'failed') {
    const sentence =
      'The new version failed and the previous one answers queries: repair the cause and reindex over HTTP.';
    const failure = boundedFailure(reindex);
    const message = failure === undefined ? sentence : `${sentence} The cause: ${failure}.`;
    return { type, status: active === wanted ? 'True' : 'False', reason: 'ReindexFailed', message };
  }
  const message = 'A new version is built; until it is active the previous one answers queries.';
  return { type, status: active === wanted ? 'True' : 'False', reason: 'Reindexing', message };
}

/** Maximum number of characters of a failure in a status. */
const failureLength = 500;

/** Why a reindex failed, in the words of the service, which have no text of a document; undefined if it gave no reason. */
export function boundedFailure({ failure }: Pick<NonNullable<Collection['reindex']>, 'failure'>): string | undefined {
  const line = failure?.replaceAll(/\p{Cc}+/gu, ' ').trim() ?? '';
  if (line === '') return undefined;
  return line.length <= failureLength ? line : `${line.slice(0, failureLength - 1).toWellFormed()}…`;
}

/** The collection answers queries while a provider fails: only documents that its rule judges wait. */
function providersOf([first, ...others]: readonly FailingProvider[]): Aspect {
  const type = 'ProviderReachable';
  if (first === undefined) {
    const message = 'No document waits for a detector or classifier that does not judge.';
    return { type, status: 'True', reason: 'Reachable', message };
  }
  const { rule, provider, cause } = first;
  const more = others.length === 0 ? '' : ` ${others.length} more rules are not judged.`;
  const message = `Documents wait until this rule judges them. ${describeProviderProblem(provider, cause, rule)}${more}`;
  return { type, status: 'False', reason: providerProblems[cause].reason, message };
}

function readyOf(result: CollectionResult, accepted: Aspect, synced: Aspect): Aspect {
  const held = isHeld(result);
  if (held) {
    const cause = accepted.status === 'False' ? accepted : synced;
    const message = `The deletion waits. ${cause.message}`;
    return { type: 'Ready', status: 'False', reason: 'DeletionHeld', message };
  }
  if (accepted.status === 'False') return { ...accepted, type: 'Ready' };
  if (result.kind !== 'ensured') return { ...synced, type: 'Ready' };
  if (result.collection.status === 'error') {
    const message = 'The retrieval service reports an error of the collection.';
    return { type: 'Ready', status: 'False', reason: 'CollectionError', message };
  }
  return { type: 'Ready', status: 'True', reason: 'Ready', message: 'The collection accepts documents and queries.' };
}

function isHeld(result: CollectionResult): boolean {
  switch (result.kind) {
    case 'not_configured':
    case 'away':
      return result.deleting;
    case 'has_children':
      return true;
    case 'tenant_not_approved':
    case 'refused':
    case 'conflict':
    case 'ensured':
      return false;
  }
}
