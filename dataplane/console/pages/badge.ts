import { html } from 'hono/html';
import type { Markup } from './page.ts';

export type Tone = 'good' | 'wait' | 'warn' | 'bad' | 'off';

const marks = { good: '✓', wait: '…', warn: '!', bad: '✕', off: '–' } as const satisfies Readonly<Record<Tone, string>>;

/**
 * A state in words with a mark: the colour only repeats it.
 * @param isNamed whether the text has a free name, which may be longer than the page is wide
 */
export function badge(tone: Tone, text: string, { isNamed = false } = {}): Markup | Promise<Markup> {
  return html`<span class="badge ${tone}${isNamed ? ' named' : ''}"><span aria-hidden="true">${marks[tone]}</span> ${text}</span>`;
}
