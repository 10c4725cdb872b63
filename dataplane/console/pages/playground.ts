import { html } from 'hono/html';
import type { PolicySummary } from '#contracts/management';
import type { PolicyCheckResult } from '#contracts/policy-check';
import type { Words } from '../words/en.ts';
import { badge, type Tone } from './badge.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';

type CheckedResult = PolicyCheckResult['results'][number];
type Marks = CheckedResult['marks'];

const tones = { Pass: 'good', Mask: 'warn', Reject: 'bad', Failed: 'bad' } as const satisfies Readonly<
  Record<CheckedResult['decision'], Tone>
>;

/** A text against any version of any policy. */
export function playgroundPage(
  { words }: PageContext,
  choice: { readonly policies: readonly PolicySummary[]; readonly policy: string; readonly revision: string },
): ConsolePage {
  const { play } = words;
  return {
    title: words.playground,
    main: html`<p class="hint">${play.intro}</p>
<form class="split" hx-post="/playground/check" hx-target="#outcome" hx-sync="this:replace">
<div>
<div class="row"><label>${words.policy} <select name="policy">${choice.policies.map(({ id, name }) => html`<option value="${id}" ${id === choice.policy ? html`selected` : ''}>${name}</option>`)}</select></label>
<label>${words.revision} <input name="revision" type="number" min="1" value="${choice.revision}" class="short"></label>
<label>${play.stage} <select name="stage"><option value="request">${play.request}</option><option value="response">${play.response}</option></select></label></div>
<label for="text">${play.text}</label>
<textarea id="text" name="text" rows="12"></textarea>
<p><button>${play.run}</button></p>
</div>
<div id="outcome" aria-live="polite"></div>
</form>`,
  };
}

/** The decision about a text, with every match of a local rule. */
export function playgroundOutcome(
  words: Words,
  given: { readonly text: string; readonly stage: 'request' | 'response'; readonly result: CheckedResult },
): Markup | Promise<Markup> {
  const { play, policyPages: own } = words;
  const { text, stage, result } = given;
  const { decision, rules, contents, marks, skipped, code } = result;
  const seen = decision === 'Pass' ? text : contents?.[0];
  return html`<h2>${own.decision}</h2><p>${badge(tones[decision], play.decisions[decision])} ${rules.length === 0 ? '' : html`<code>${rules.join(', ')}</code>`} ${code === null ? '' : html`<code>${code}</code>`}</p>
<h3>${play.marks}</h3>${marks.length === 0 ? html`<p class="quiet">${play.noMarks}</p>` : html`<pre class="text">${markedText(text, marks)}</pre>`}
<h3>${stage === 'request' ? play.seen : play.seenAnswer}</h3>${seen === undefined ? html`<p>${play.nothing}</p>` : html`<pre class="text">${seen}</pre>`}
${skipped.length === 0 ? '' : html`<p class="hint">${play.skipped}: ${skipped.join(', ')}</p>`}`;
}

/** The text with its matches; of matches that overlap the first one is marked, and named with the others. */
function markedText(text: string, marks: Marks): readonly (string | Markup | Promise<Markup>)[] {
  const sorted = marks.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const parts: (string | Markup | Promise<Markup>)[] = [];
  let at = 0;
  for (const { rule, start, end } of sorted) {
    if (start < at) continue;
    const names = [
      ...new Set([rule, ...sorted.filter((one) => one.start < end && one.end > start).map((one) => one.rule)]),
    ];
    parts.push(
      html`${text.slice(at, start)}`,
      html`<mark>${text.slice(start, end)}<span class="rule"> ${names.join(', ')}</span></mark>`,
    );
    at = end;
  }
  return [...parts, html`${text.slice(at)}`];
}
