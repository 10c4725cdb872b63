import { html } from 'hono/html';
import type { Markup } from './page.ts';

export type Tone = 'good' | 'wait' | 'warn' | 'bad' | 'off';

const marks = { good: '✓', wait: '…', warn: '!', bad: '✕', off: '–' } as const satisfies Readonly<Record<Tone, string>>;

/** A state in words with a mark: the colour only repeats it. */
export function badge(tone: Tone, text: string): Markup | Promise<Markup> {
  return html`<span class="badge ${tone}"><span aria-hidden="true">${marks[tone]}</span> ${text}</span>`;
}
