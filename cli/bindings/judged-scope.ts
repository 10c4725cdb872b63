import { expandJudge, type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import type { ModelBinding } from '#resources/model-binding';
import { tableOf } from '../output/write.ts';

/** What of the texts of a model is judged, as a binding says (docs/design/judged-texts.md). */
export type JudgedScope = {
  /** Kinds of text that are judged in addition to those of the contract. */
  readonly judges: readonly JudgedTextKind[];
  readonly notJudged: readonly JudgedTextKind[];
  /** What happens to requests and answers with text that is not judged. */
  readonly unjudged: 'Forward' | 'Refuse';
  readonly streaming: 'Strict' | 'Allowed' | 'Refused';
  readonly longConversations: 'Refuse' | 'Split';
};

/** @returns undefined for an unguarded model, of which nothing is judged */
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

/** The kinds in one word for a table: `contract` where there are no further ones. */
export function judgesText({ judges, notJudged }: JudgedScope): string {
  if (judges.length === 0) return 'contract';
  return notJudged.length === 0 ? 'all' : judges.join(',');
}

const streams = {
  Strict: 'served, if every rule can judge them',
  Allowed: 'served, although a longer match of some rules may pass',
  Refused: 'refused',
} as const satisfies Record<JudgedScope['streaming'], string>;

/**
 * The scope as text.
 * @param refusedBy the rule or limit for which streams are refused, from the status of the binding
 */
export function judgedScopeText(scope: JudgedScope | undefined, refusedBy: string | undefined): string {
  if (scope === undefined) return 'nothing: the model is UNGUARDED\n';
  const { judges, notJudged, unjudged, streaming, longConversations } = scope;
  const other = unjudged === 'Refuse' ? 'refused' : 'forwarded';
  const isRefused = streaming === 'Strict' && refusedBy !== undefined;
  return tableOf([
    ['always', 'content and refusals of messages and answers, results of tools'],
    ['also', judges.length === 0 ? 'nothing' : judges.join(', ')],
    ['not judged', notJudged.length === 0 ? 'nothing' : `${notJudged.join(', ')}: ${other}`],
    ['streams', isRefused ? `refused because of ${refusedBy}` : streams[streaming]],
    ['long conversations', longConversations === 'Split' ? 'judged in groups' : 'refused'],
  ]);
}
