import { type Command, Option } from 'commander';
import { type RetrievalMode, retrievalLimits } from '#contracts/retrieval';
import { wholeNumber } from '../options/whole-number.ts';

/** The defaults of a collection for a search or submit that names no value. */
export type DefaultsOptions = {
  readonly mode?: RetrievalMode;
  readonly topK?: number;
  readonly rerankProfile?: string;
  readonly emptyAcl?: 'reject' | 'strictest';
};

export function withDefaultsOptions(command: Command): Command {
  const { min, max } = retrievalLimits.topK;
  return command
    .addOption(new Option('--mode <mode>', 'default mode of searches').choices(['hybrid', 'vector', 'bm25']))
    .option('--top-k <number>', 'default maximum number of citations of searches', wholeNumber(min, max))
    .option('--rerank-profile <id>', 'rerank profile of models.yaml')
    .addOption(
      new Option(
        '--empty-acl <policy>',
        'document without an access list in a private collection: reject it, or strictest, only its owner reads it',
      ).choices(['reject', 'strictest']),
    );
}

/** The members of a collection that the options name; defaults that are not named keep their values `before`. */
export function defaultsOf({ mode, topK, rerankProfile, emptyAcl }: DefaultsOptions, before: RetrievalDefaults = {}) {
  const named = {
    ...(mode === undefined ? {} : { mode }),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(rerankProfile === undefined ? {} : { rerank_profile_id: rerankProfile }),
  };
  return {
    ...(Object.keys(named).length === 0 ? {} : { retrieval_defaults: { ...givenDefaults(before), ...named } }),
    ...(emptyAcl === undefined ? {} : { empty_acl_policy: emptyAcl }),
  };
}

type RetrievalDefaults = {
  readonly mode?: RetrievalMode;
  readonly top_k?: number;
  readonly rerank_profile_id?: string | null;
};

/** A body has no null: an absent profile is left out. */
function givenDefaults({ rerank_profile_id, ...rest }: RetrievalDefaults) {
  return rerank_profile_id === undefined || rerank_profile_id === null ? rest : { ...rest, rerank_profile_id };
}
