import { html } from 'hono/html';
import type { Language } from '../words/choose-words.ts';
import type { Markup } from './page.ts';

const formats: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
  ru: new Intl.DateTimeFormat('ru-RU', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
};

/** A point in time in UTC, with the whole value for programs. */
export function timeOf(language: Language, instant: string): Markup | Promise<Markup> {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return html`${instant}`;
  return html`<time datetime="${instant}">${formats[language].format(date)} UTC</time>`;
}
