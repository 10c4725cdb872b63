import { expandJudge, type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import type { ModelBinding, ModelBindingStatus } from '#resources/model-binding';
import { tableOf } from '../output/write.ts';

/** The texts of a model that are judged by a binding (docs/design/judged-texts.md). */
export type JudgedScope = {
  /** Kinds of text that are judged in addition to those of the contract. */
  readonly judges: readonly JudgedTextKind[];
  readonly notJudged: readonly JudgedTextKind[];
  /** The treatment of requests and answers with text that is not judged. */
  readonly unjudged: 'Forward' | 'Refuse';
  readonly streaming: 'Strict' | 'Allowed' | 'Refused';
  readonly longConversations: 'Refuse' | 'Split';
};

/** @returns undefined for an unguarded model, whose texts are not judged */
export function judgedScopeOf({ spec }: Pick<ModelBinding, 'spec'>): JudgedScope | undefined {
  if (spec.guardrail.mode === 'None') return undefined;
  const judges = spec.judge === undefined ? [] : expandJudge(spec.judge);
  return {
    judges,
    notJudged: judgedTextKinds.filter((kind) => !judges.includes(kind)),
    unjudged: spec.unjudged ?? 'Forward',
    streaming: spec.streaming ?? 'Strict',
    longConversations: spec.longConversations ?? 'Refuse',
  };
}

/** The kinds in one word for a table: `contract` if there are no further kinds. */
export function judgesText({ judges, notJudged }: JudgedScope): string {
  if (judges.length === 0) return 'contract';
  return notJudged.length === 0 ? 'all' : judges.join(',');
}

const streams = {
  Strict: 'served, if every rule can judge them',
  Allowed: 'served, although a longer match of some rules may pass',
  Refused: 'refused',
} as const satisfies Record<JudgedScope['streaming'], string>;

/** The part of a binding's status about the rules that judge its texts. */
type PinnedChecks = Pick<
  NonNullable<NonNullable<ModelBindingStatus['pinned']>['checks']>,
  'streamingRefusedBy' | 'division'
>;

/**
 * The scope as text.
 * @param checks from the status of the binding; undefined before its first application
 */
export function judgedScopeText(scope: JudgedScope | undefined, checks: PinnedChecks | undefined): string {
  if (scope === undefined) return 'nothing: the model is UNGUARDED\n';
  const { judges, notJudged, unjudged, streaming, longConversations } = scope;
  const other = unjudged === 'Refuse' ? 'refused' : 'forwarded';
  const refusedBy = checks?.streamingRefusedBy;
  const isRefused = streaming === 'Strict' && refusedBy !== undefined;
  return tableOf([
    ['always', 'content and refusals of messages and answers, results of tools'],
    ['also', judges.length === 0 ? 'nothing' : judges.join(', ')],
    ['not judged', notJudged.length === 0 ? 'nothing' : `${notJudged.join(', ')}: ${other}`],
    ['streams', isRefused ? `refused because of ${refusedBy}` : streams[streaming]],
    ['long conversations', longConversations === 'Split' ? 'judged in groups' : 'refused'],
    ...(judges.length === 0 || checks === undefined ? [] : longTexts(scope, checks)),
  ]);
}

/** How a text of the further kinds is treated if it is larger than one check. */
function longTexts({ streaming }: JudgedScope, checks: PinnedChecks): readonly (readonly string[])[] {
  const { division, streamingRefusedBy } = checks;
  const inRequests =
    division === undefined
      ? 'refused until the policy is applied again'
      : division.allowed
        ? 'judged in pieces'
        : `refused because of ${division.rule}`;
  const inAnswers =
    streamingRefusedBy === undefined || streaming === 'Allowed'
      ? 'judged in windows'
      : `refused because of ${streamingRefusedBy}`;
  return [
    ['long texts in requests', `of the kinds in "also": ${inRequests}`],
    ['long texts in answers', `of the kinds in "also": ${inAnswers}`],
  ];
}
