import { html } from 'hono/html';
import type { PolicySummary } from '#contracts/management';
import { type PolicyCheckResult, policyCheckLimits } from '#contracts/policy-check';
import type { Words } from '../words/en.ts';
import { badge, type Tone } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';

type CheckedResult = PolicyCheckResult['results'][number];
type Marks = CheckedResult['marks'];

const tones = { Pass: 'good', Mask: 'warn', Reject: 'bad', Failed: 'bad' } as const satisfies Readonly<
  Record<CheckedResult['decision'], Tone>
>;

/** A message of a person or a model in the playground. */
type PlayedMessage = { readonly role: string; readonly content: string };

const roles = ['user', 'assistant', 'system', 'tool'] as const;
export const mostMessages = policyCheckLimits.messages.max;

/** A text or a conversation against any revision of any policy. */
export function playgroundPage(
  { words, session }: PageContext,
  choice: {
    readonly policies: readonly PolicySummary[];
    readonly policy: string;
    readonly revision: string;
    /** Whether policies exist that the list of choices does not contain. */
    readonly hasMore: boolean;
    /** Why the policy that was asked for is not there; no policy is chosen then. */
    readonly problem?: Markup | Promise<Markup> | undefined;
  },
): ConsolePage {
  const { play, policyPages } = words;
  if (choice.policies.length === 0) {
    const mayCreate = session?.rights.author === true;
    const next = mayCreate
      ? { text: policyPages.noneText, link: { href: '/policies/new', label: policyPages.create } }
      : { text: policyPages.noneAsk };
    return { title: words.playground, main: notice({ kind: 'empty', title: policyPages.none, ...next }) };
  }
  return {
    title: words.playground,
    main: html`${choice.problem ?? ''}<p class="hint">${play.intro}</p>
<form class="split" method="post" action="/playground/check" hx-post="/playground/check" hx-target="#outcome" hx-sync="this:replace">
<div><input type="hidden" name="csrf" value="${session?.csrf ?? ''}">
<div class="row"><label>${words.policy} <select name="policy" hx-get="/playground/revision" hx-target="#revision" hx-swap="outerHTML" hx-sync="this:replace">${choice.policy === '' ? html`<option value="" selected></option>` : ''}${choice.policies.map(({ id, name }) => html`<option value="${id}" ${id === choice.policy ? html`selected` : ''}>${name}</option>`)}</select></label>
${revisionField(words, choice)}
<label>${play.stage} <select name="stage"><option value="request">${play.request}</option><option value="response">${play.response}</option></select></label></div>
${choice.hasMore ? html`<p class="hint">${play.morePolicies}</p>` : ''}<div id="messages">${messageFields(words, 1)}</div>
<p class="hint">${play.messagesHint}</p>
<p class="row"><button>${play.run}</button> <button type="button" class="plain" hx-post="/playground/stream" hx-target="#outcome" hx-swap="beforeend">${play.stream}</button> <button type="button" class="plain" hx-get="/playground/message" hx-include="[name=role]" hx-target="#messages" hx-swap="beforeend">${play.addMessage}</button></p>
</div>
<div id="outcome" aria-live="polite"></div>
</form>`,
  };
}

/** The revision of the chosen policy, and the page of the policy. */
export function revisionField(
  words: Words,
  { policy, revision }: { readonly policy: string; readonly revision: string },
): Markup | Promise<Markup> {
  return html`<span id="revision"><label>${words.revision} <input name="revision" type="number" min="1" value="${revision}" class="short"></label> ${policy === '' ? '' : html`<a class="button plain" href="/policies/${policy}">${words.policyPages.open}</a>`}</span>`;
}

/**
 * The field with no revision, and the reason why the newest revision is not known: the revision of the previous policy
 * would be wrong.
 */
export function refusedRevision(words: Words, refusal: Markup): Markup | Promise<Markup> {
  return html`<div id="revision"><label>${words.revision} <input name="revision" type="number" min="1" value="" class="short"></label>${refusal}</div>`;
}

/** The fields of one message; the page always has the fields of the first message. */
export function messageFields({ play }: Words, number: number): Markup | Promise<Markup> {
  const id = number === 1 ? 'text' : `text-${number}`;
  return html`<fieldset><legend>${play.message(number)}</legend><p class="row"><label>${play.role} <select name="role">${roles.map((role) => html`<option value="${role}">${play.roles[role]}</option>`)}</select></label></p>
<label for="${id}">${play.text}</label>
<textarea id="${id}" name="text" rows="${number === 1 ? 10 : 4}"></textarea></fieldset>`;
}

/** The decision about the messages, with every match of a local rule. */
export function playgroundOutcome(
  words: Words,
  given: {
    readonly policy: { readonly name: string; readonly revision: string };
    readonly messages: readonly PlayedMessage[];
    readonly stage: 'request' | 'response';
    readonly result: CheckedResult;
  },
): Markup | Promise<Markup> {
  const { play, policyPages: own } = words;
  const { policy, messages, stage, result } = given;
  const { decision, rules, contents, marks, skipped, code } = result;
  const seen = decision === 'Pass' ? messages.map(({ content }) => content) : contents;
  const title = (at: number) => (messages.length === 1 ? '' : html`<h4>${play.message(at + 1)}</h4>`);
  return html`<h2>${own.decision}</h2><p class="hint">${words.policy} ${policy.name}, ${words.revision} ${policy.revision}</p><p>${badge(tones[decision], play.decisions[decision])} ${rules.length === 0 ? '' : html`<code>${rules.join(', ')}</code>`} ${code === null ? '' : html`<code>${code}</code>`}</p>
<h3>${play.marks}</h3>${
    marks.length === 0
      ? html`<p class="quiet">${play.noMarks}</p>`
      : messages.map(({ content }, at) => {
          const own = marks.filter(({ message }) => message === at);
          return html`${title(at)}<pre class="text" tabindex="0">${markedText(content, own)}</pre>`;
        })
  }
<h3>${stage === 'request' ? play.seen : play.seenAnswer}</h3>${seen === null ? html`<p>${play.nothing}</p>` : seen.map((content, at) => html`${title(at)}<pre class="text" tabindex="0">${content}</pre>`)}
${skipped.length === 0 ? '' : html`<p class="hint">${play.skipped}: ${skipped.join(', ')}</p>`}`;
}

/** The text with its matches; if matches overlap, the first one is marked and the mark names the others. */
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
