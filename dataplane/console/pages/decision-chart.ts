import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import { html } from 'hono/html';
import { type CollectedCounts, countedMinutes, countedOutcomes, type DecisionCount } from '#contracts/decision-counts';
import type { Words } from '../words/en.ts';
import { missingReplicas } from './missing-replicas.ts';
import { notice } from './notice.ts';
import { isFound, type OverviewPlace, partOfList } from './overview-place.ts';
import type { Markup, PageContext } from './page.ts';
import { pageLinks } from './page-links.ts';
import { runbookLink } from './runbooks.ts';
import { timeOf } from './time.ts';

/** Maximum number of models whose decisions are drawn on one page. */
const mostCharts = 12;
const minuteMs = 60_000;
const [width, height] = [720, 64];

/** The decisions of one alias; minutes without decisions are absent. */
type ModelDecisions = { readonly model: string; readonly minutes: readonly DecisionCount[] };

/**
 * The decisions of the last hour, one chart for each model whose alias has the searched text, the busiest first.
 */
export function decisionCharts(
  { words, language }: Pick<PageContext, 'words' | 'language'>,
  { items, missing }: CollectedCounts,
  { now, place }: { readonly now: Date; readonly place: OverviewPlace },
): Markup | Promise<Markup> {
  const { counts } = words;
  const models = decisionsByModel(items).filter(({ model }) => isFound(place, model));
  const minutes = lastMinutes(now);
  const { items: shown, from, to, of, links } = partOfList(models, { place, name: 'charts', size: mostCharts });
  return html`${missing.length === 0 ? '' : notice({ kind: 'error', title: words.act.missing, text: missingReplicas(words, missing) })}
${models.length === 0 ? html`<p class="quiet">${place.find === '' ? counts.none : counts.noneFound}</p>` : ''}
${shown.map(
  (
    decisions,
  ) => html`<figure class="decisions"><figcaption><strong>${decisions.model}</strong> ${totals(words, decisions)}</figcaption>
${sumOf(decisions.minutes, ['check_failed']) === 0 ? '' : runbookLink(words, 'checks-fail', decisions.model)}
${chart(words, decisions, minutes)}<p class="ends"><span>${timeOf(language, minutes[0] ?? '')}</span><span>${timeOf(language, minutes.at(-1) ?? '')}</span></p></figure>`,
)}${of <= mostCharts ? '' : html`<p class="quiet">${counts.shown(from, to, of)}</p>`}${pageLinks(words, links)}`;
}

/** The models with their minutes, the model with the most decisions first. */
function decisionsByModel(items: readonly DecisionCount[]): readonly ModelDecisions[] {
  return [...Map.groupBy(items, ({ model }) => model)]
    .map(([model, minutes]) => ({ model, minutes, sum: sumOf(minutes) }))
    .toSorted((one, other) => other.sum - one.sum || (one.model < other.model ? -1 : 1));
}

/** The start times of the minutes of a chart, RFC 3339 in UTC; the last one is the current minute. */
export function lastMinutes(now: Date): readonly string[] {
  const last = Math.floor(now.getTime() / minuteMs) * minuteMs;
  return Array.from({ length: countedMinutes }, (_, at) =>
    new Date(last - (countedMinutes - 1 - at) * minuteMs).toISOString(),
  );
}

function sumOf(minutes: readonly DecisionCount[], outcomes = countedOutcomes as readonly Outcome[]): number {
  return minutes.reduce((sum, one) => sum + outcomes.reduce((all, outcome) => all + one[outcome], 0), 0);
}

type Outcome = (typeof countedOutcomes)[number];

function totals(words: Words, { minutes }: ModelDecisions) {
  return countedOutcomes.map(
    (outcome) =>
      html`<a class="total ${outcome}" href="/activity?outcome=${outcome}">${words.act.outcomes[outcome]}: ${sumOf(minutes, [outcome])}</a> `,
  );
}

/** A chart with one bar for each minute, in the colours of its outcomes. */
function chart(words: Words, { model, minutes }: ModelDecisions, times: readonly string[]) {
  const x = scaleBand(times, [0, width]).paddingInner(0.2);
  const most = Math.max(1, ...minutes.map((minute) => sumOf([minute])));
  const y = scaleLinear([0, most], [height, 0]);
  const series = stack<DecisionCount, Outcome>().keys(countedOutcomes)(minutes);
  const bars = series.flatMap((points) =>
    points
      .filter(([from, to], at) => to > from && x(minutes[at]?.time ?? '') !== undefined)
      .map((point) => {
        const [from, to] = point;
        return html`<rect class="${points.key}" x="${(x(point.data.time) ?? 0).toFixed(1)}" y="${y(to).toFixed(1)}" width="${x.bandwidth().toFixed(1)}" height="${(y(from) - y(to)).toFixed(1)}"></rect>`;
      }),
  );
  return html`<svg role="img" aria-label="${words.counts.chart(model, most)}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">${bars}</svg>`;
}
