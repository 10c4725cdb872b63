import { html } from 'hono/html';
import { type ReplyPart, withoutReplaced } from '#contracts/a2a-reply';
import type { JsonValue } from '#kit/json/json-value';
import type { Words } from '../words/en.ts';
import { badge } from './badge.ts';
import { notice } from './notice.ts';
import type { Markup, PageContext } from './page.ts';
import { refusalText } from './refusal-text.ts';

/** Longest message, in UTF-16 units. */
export const longestMessage = 20_000;

/**
 * The page of a conversation with an agent. The conversation is stored only in the page. The script shows an answer as
 * it arrives, and can stop it.
 */
export function conversation(
  { words, session }: PageContext,
  agentId: string,
  turn?: { readonly shown: Markup | Promise<Markup>; readonly contextId: string; readonly taskId: string },
): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  return html`<section aria-labelledby="chat"><h2 id="chat">${own.chat}</h2><p class="hint">${own.chatText}</p>
<noscript><p class="hint">${own.chatNoScript}</p></noscript>
<ol id="talk" class="cards" aria-label="${own.talk}" aria-live="polite">${turn?.shown ?? ''}</ol>
<form class="chat" method="post" action="/agents/${agentId}/chat" data-chat hx-post="/agents/${agentId}/chat" hx-target="#talk" hx-swap="beforeend" hx-sync="this:drop">
<input type="hidden" name="csrf" value="${session?.csrf ?? ''}">
<input type="hidden" name="context" id="context" value="${turn?.contextId ?? ''}">
${taskField(turn?.taskId ?? '')}
<label for="message">${own.message}</label>
<textarea id="message" name="text" rows="3" required maxlength="${longestMessage}" data-once></textarea>
<p><button>${own.send}</button> <button type="button" class="plain" data-stop hidden>${own.stop}</button></p></form></section>`;
}

/** The field with the task that the next message belongs to; empty if no task requested the message. */
function taskField(taskId: string): Markup | Promise<Markup> {
  return html`<input type="hidden" name="taskId" id="task" value="${taskId}">`;
}

/** The markup of a turn before the first part of the answer: the message and the empty reply. */
export function turnBegin(
  words: Words,
  turn: { readonly id: string; readonly person: string; readonly agent: string; readonly text: string },
): Markup | Promise<Markup> {
  const { id, person, agent, text } = turn;
  return html`<li class="card"><strong>${person}</strong><div class="said">${text}</div></li>
<li class="card answer"><strong>${agent}</strong><div class="said" id="said-${id}"></div>
<p class="sub cut" hidden>${words.agentPages.cut}</p><div id="end-${id}"></div></li>
<hx-partial hx-target="#task" hx-swap="outerHTML">${taskField('')}</hx-partial>`;
}

/**
 * The markup that an event adds to the page: every text is escaped. Each artifact has its own element, so that it can
 * be replaced: its first event adds its id to `artifacts`.
 */
export function turnPart(
  words: Words,
  turn: { readonly id: string; readonly taskId: string | undefined; readonly artifacts: string[] },
  event: ReplyPart,
): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const { id, taskId = '', artifacts } = turn;
  const said = `said-${id}`;
  switch (event.kind) {
    case 'begun':
      return event.contextId === undefined
        ? html``
        : html`<hx-partial hx-target="#context" hx-swap="outerHTML"><input type="hidden" name="context" id="context" value="${event.contextId}"></hx-partial>`;
    case 'artifact': {
      const known = artifacts.indexOf(event.artifactId);
      const at = known < 0 ? artifacts.push(event.artifactId) - 1 : known;
      const [target, swap] = known < 0 ? [said, 'beforeend'] : [`${said}-${at}`, 'outerHTML'];
      return html`<hx-partial hx-target="#${target}" hx-swap="${swap}"><div id="${said}-${at}"></div></hx-partial>`;
    }
    case 'text':
    case 'data':
    case 'file': {
      const at = artifacts.indexOf(event.artifactId ?? '');
      const target = at < 0 ? said : `${said}-${at}`;
      return html`<hx-partial hx-target="#${target}" hx-swap="beforeend">${saidPart(words, event)}</hx-partial>`;
    }
    case 'ended':
      return html`<hx-partial hx-target="#end-${id}">${badge('good', own.complete)}</hx-partial>`;
    case 'asked':
      return html`<hx-partial hx-target="#end-${id}">${badge('warn', own.asked)}</hx-partial><hx-partial hx-target="#task" hx-swap="outerHTML">${taskField(taskId)}</hx-partial>`;
    case 'failed':
      return html`<hx-partial hx-target="#end-${id}">${failedTurn(words, event)}</hx-partial><hx-partial hx-target="#task" hx-swap="outerHTML">${taskField(taskId)}</hx-partial>`;
  }
}

/** A whole turn, for a page without the script. `isCut`: its end did not arrive in time. */
export function wholeTurn(
  words: Words,
  turn: {
    readonly person: string;
    readonly agent: string;
    readonly text: string;
    readonly events: readonly ReplyPart[];
    readonly isCut: boolean;
  },
): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const { person, agent, text, events, isCut } = turn;
  const end = (event: ReplyPart): Markup | Promise<Markup> | string => {
    if (event.kind === 'ended') return badge('good', own.complete);
    if (event.kind === 'asked') return badge('warn', own.asked);
    return event.kind === 'failed' ? failedTurn(words, event) : '';
  };
  return html`<li class="card"><strong>${person}</strong><div class="said">${text}</div></li>
<li class="card answer"><strong>${agent}</strong><div class="said">${withoutReplaced(events).map((event) => saidPart(words, event))}</div>${isCut ? html`<p class="sub">${own.cut}</p>` : events.map(end)}</li>`;
}

/** The text of a part of the agent's answer; empty for a part without text. */
function saidPart(words: Words, event: ReplyPart): Markup | Promise<Markup> | string {
  switch (event.kind) {
    case 'text':
      return event.text;
    case 'data':
      return dataPart(words, event.data);
    case 'file':
      return html`<p class="sub">${words.agentPages.file(event.name)}</p>`;
    default:
      return '';
  }
}

function dataPart({ agentPages: own }: Words, data: JsonValue): Markup | Promise<Markup> {
  return html`<details><summary>${own.data}</summary><pre class="text" tabindex="0">${JSON.stringify(data, undefined, 2)}</pre></details>`;
}

/** Why an answer failed, and the remedy. */
function failedTurn(
  words: Words,
  { code, message }: Extract<ReplyPart, { readonly kind: 'failed' }>,
): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const { text: meaning, isOfCode, ...detail } = refusalText(words, code, message);
  const { remedies, remedy } = own;
  const known = Object.hasOwn(remedies, code) ? remedies[code as keyof typeof remedies] : undefined;
  // If the page and the API have different languages, the remedy of the page also states the cause.
  const text = known !== undefined && isOfCode ? known : html`${meaning} ${known ?? remedy}`;
  return notice({ kind: 'error', title: own.failed, text, code, ...detail });
}
