import { html } from 'hono/html';
import type { Markup } from './page.ts';

/**
 * The attribute with which a part of an answer replaces the part of the page that has the same id; other parts stay
 * unchanged.
 */
export const outOfBand = html`hx-swap-oob="outerMorph"`;

/** Maximum number of operations in one request: as many as one page of the list has. */
export const mostPolled = 100;

/** Open operations for each second of the pause: the request reads each of them, and its model. */
const operationsPerSecond = 5;
const shortestSeconds = 2;
/** The shortest pause, seconds, that applies from each of these numbers of requests on. */
const longerPauses = [
  { turn: 60, seconds: 15 },
  { turn: 30, seconds: 5 },
] as const;

type Polling = {
  /** How many requests the page has sent so far. */
  readonly turn: number;
  /** Whether the service could not report the state of one of these operations now. */
  readonly isSlow: boolean;
};

/**
 * Requests the states of all open operations of a page in one call, slower the more there are and the longer they take:
 * the reads of one page stay far below the rate limit of a person. Without open operations, the element is empty, so
 * that the requests end.
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
