import { html } from 'hono/html';
import type { Markup } from './page.ts';

/**
 * The attribute of a part of an answer that replaces the part of the page with its id; unchanged parts stay untouched.
 */
export const outOfBand = html`hx-swap-oob="outerMorph"`;

/** Operations in one request: those of one page of the list. */
export const mostPolled = 100;

/** Open operations for each second of the pause: the request reads each of them, and its model. */
const operationsPerSecond = 5;
const shortestSeconds = 2;
/** From these requests on, the pauses have at least this length, seconds. */
const longerPauses = [
  { turn: 60, seconds: 15 },
  { turn: 30, seconds: 5 },
] as const;

type Polling = {
  /** How many requests the page has sent. */
  readonly turn: number;
  /** Whether the service could not answer about one of these operations now. */
  readonly isSlow: boolean;
};

/**
 * Requests the states of all open operations of a page in one call, slower the more there are and the longer they take:
 * the reads of one page stay far below the rate limit of a person. An empty element without open ones, so that the
 * requests end.
 */
export function operationPolling(ids: readonly string[], polling: Polling): Markup | Promise<Markup> {
  if (ids.length === 0) return html`<div id="polling" hidden></div>`;
  const query = [`turn=${polling.turn + 1}`, ...ids.map((id) => `id=${id}`)].join('&');
  return html`<div id="polling" hidden hx-get="/operations/states?${query}" hx-trigger="every ${pauseSeconds(ids.length, polling)}s" hx-swap="outerHTML"></div>`;
}

function pauseSeconds(open: number, { turn, isSlow }: Polling): number {
  const least = longerPauses.find((one) => turn >= one.turn)?.seconds ?? shortestSeconds;
  const seconds = Math.max(least, Math.ceil(open / operationsPerSecond));
  return isSlow ? seconds * 2 : seconds;
}
