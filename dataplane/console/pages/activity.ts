import { html } from 'hono/html';
import type { CollectedActivity, ReplicaDecision } from '#contracts/activity';
import { badge, type Tone } from './badge.ts';
import { missingReplicas } from './missing-replicas.ts';
import { notice } from './notice.ts';
import type { ConsolePage, PageContext } from './page.ts';
import { timeOf } from './time.ts';

const tones = { passed: 'good', masked: 'warn', denied: 'bad', check_failed: 'bad' } as const satisfies Readonly<
  Record<ReplicaDecision['outcome'], Tone>
>;

/** The newest decisions, with the rule that decided. */
export function activityPage(
  { words, language, session }: PageContext,
  activity: CollectedActivity,
  outcome: string,
): ConsolePage {
  const { act } = words;
  const row = (one: ReplicaDecision) =>
    html`<tr><td>${timeOf(language, one.time)}</td><td>${one.model}</td><td>${badge(tones[one.outcome], act.outcomes[one.outcome])}</td><td><code>${one.rule ?? one.code ?? ''}</code>${one.provider === undefined ? '' : html` ${one.provider.name}: <code>${one.provider.cause}</code>`}</td><td><a href="/policies/${one.policyId}">${words.revision} ${one.revision}</a></td><td>${one.client ?? ''}</td><td>${one.replica}</td><td class="mono">${one.requestId}</td></tr>`;
  const { items, missing } = activity;
  return {
    title: words.activity,
    main: html`<p class="hint">${act.intro} ${session?.rights.administer === true ? html`<a href="/audit">${words.audit.title}</a>` : ''}</p>
<form class="row" method="get" action="/activity"><label>${act.outcome} <select name="outcome"><option value="">${act.all}</option>${Object.entries(act.outcomes).map(([value, label]) => html`<option value="${value}" ${value === outcome ? html`selected` : ''}>${label}</option>`)}</select></label><button class="plain">${act.filter}</button></form>
${missing.length === 0 ? '' : notice({ kind: 'error', title: act.missing, text: missingReplicas(words, missing) })}
${
  items.length === 0
    ? notice({ kind: 'empty', title: act.none, text: act.noneText })
    : html`<table><thead><tr><th scope="col">${act.time}</th><th scope="col">${words.model}</th><th scope="col">${act.outcome}</th><th scope="col">${words.policyPages.rule}</th><th scope="col">${words.policy}</th><th scope="col">${act.client}</th><th scope="col">${act.replica}</th><th scope="col">${act.request}</th></tr></thead><tbody>${items.map(row)}</tbody></table>`
}`,
  };
}
