import { html } from 'hono/html';
import type { MissingReplica } from '#contracts/activity';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';
import { saidText } from './said-text.ts';

/** The list of the replicas whose decisions are not included, each with its reason. */
export function missingReplicas(words: Words, missing: readonly MissingReplica[]): Markup | Promise<Markup> {
  return html`${missing.map(({ replica, reason }, at) => html`${at === 0 ? '' : '; '}${replica}: ${saidText(words, reason)}`)}`;
}
