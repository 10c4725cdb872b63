import { html } from 'hono/html';
import type { PolicyCheckResult } from '#contracts/policy-check';
import type { Words } from '../words/en.ts';
import { badge } from './badge.ts';
import { notice } from './notice.ts';
import type { Markup } from './page.ts';

type CheckedWindow = PolicyCheckResult['results'][number];

/** Replaces the outcome before it. */
export function asOutcome(shown: Markup | Promise<Markup>): Markup | Promise<Markup> {
  return html`<hx-partial hx-target="#outcome" hx-swap="innerHTML">${shown}</hx-partial>`;
}

/** The place of a streamed answer. */
export function streamBegin({ play }: Words): Markup | Promise<Markup> {
  return asOutcome(html`<h2>${play.streamed}</h2><p class="hint">${play.streamHint}</p>
<pre class="text" tabindex="0" id="streamed"></pre><div id="stream-state"></div>`);
}

/** The text that a client gets after a window has passed. */
export function windowPassed(
  { play }: Words,
  window: { readonly number: number; readonly of: number; readonly added: string; readonly held: number },
): Markup | Promise<Markup> {
  const { number, of, added, held } = window;
  return html`<hx-partial hx-target="#streamed" hx-swap="beforeend">${added}</hx-partial>
<hx-partial hx-target="#stream-state" hx-swap="innerHTML"><p class="sub">${play.windowPassed(number, of, held)}</p></hx-partial>`;
}

/** The end of a stream: complete, or stopped by the window that did not pass. */
export function streamEnd(
  { play }: Words,
  stop: { readonly number: number; readonly result: CheckedWindow } | undefined,
): Markup | Promise<Markup> {
  if (stop === undefined)
    return html`<hx-partial hx-target="#stream-state" hx-swap="innerHTML"><p>${badge('good', play.streamComplete)}</p></hx-partial>`;
  const { decision, rules, code } = stop.result;
  const named = [...rules, ...(code === null ? [] : [code])].join(', ');
  return html`<hx-partial hx-target="#stream-state" hx-swap="innerHTML"><p>${badge('bad', play.streamStopped)} ${play.decisions[decision]} <code>${named}</code></p><p>${play.streamRest(stop.number)}</p></hx-partial>`;
}

/** Why the text is not shown as a stream. */
export function streamRefused(
  { play }: Words,
  refused: { readonly title: string; readonly text: string | Markup | Promise<Markup>; readonly rule: string | null },
): Markup | Promise<Markup> {
  const { title, text, rule } = refused;
  return asOutcome(notice({ kind: 'error', title, text, ...(rule === null ? {} : { code: `${play.rule} ${rule}` }) }));
}
