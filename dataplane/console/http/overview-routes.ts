import type { Hono } from 'hono';
import { collectedCountsSchema } from '#contracts/decision-counts';
import type { Overview } from '#contracts/overview';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { ManagementApi } from '../clients/management-api.ts';
import { decisionCharts, readChartPage } from '../pages/decision-chart.ts';
import { refusalNotice } from '../pages/notice.ts';
import { overviewPage, overviewTables } from '../pages/overview.ts';
import type { Words } from '../words/en.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { isPassing } from './is-passing.ts';
import { readablePolicies } from './readable-policies.ts';
import { streamEvents } from './stream-events.ts';

/** The overview, the stream that sends its tables again after each change, and the decisions of the last hour. */
export function addOverviewRoutes(app: Hono<ConsoleEnvironment>, stopping: AbortSignal): void {
  app.get('/overview', async (context) => {
    const answer = await context.get('management').overview();
    const page = context.get('page');
    if (answer.kind !== 'value') return answerRefusal(context, page.words.overview, answer);
    const chartPage = readChartPage(context.req.query('charts'));
    const isReadable = await readablePolicies(context);
    return answerPage(context, overviewPage(page, answer.value, { isReadable, chartPage }));
  });

  app.get('/overview/decisions', async (context) => {
    const page = context.get('page');
    const answer = await context.get('management').call('/api/v1/decision-counts', collectedCountsSchema);
    return context.html(
      await (answer.kind === 'value'
        ? decisionCharts(page, answer.value, { now: new Date(), chartPage: readChartPage(context.req.query('charts')) })
        : refusalNotice(page.words, answer)),
    );
  });

  app.get('/overview/events', async (context) => {
    const { words } = context.get('page');
    const management = context.get('management');
    const first = await management.overview();
    // The status ends a stream that connects again: an empty stream would be opened twice in a second.
    if (first.kind === 'refused' && !isPassing(first)) return answerRefusal(context, words.overview, first);
    const isReadable = await readablePolicies(context);
    return streamEvents(context, (signal) => overviewEvents({ words, management, first, isReadable }, signal), stopping);
  });
}

/**
 * The tables after each change. While the API does not answer, or the person has sent too many requests, a notice stands above the
 * last known ones, once; the next answer replaces both. The stream ends with another refusal.
 */
async function* overviewEvents(
  options: {
    readonly words: Words;
    readonly management: ManagementApi;
    readonly first: ApiAnswer<Overview>;
    readonly isReadable: Awaited<ReturnType<typeof readablePolicies>>;
  },
  signal: AbortSignal,
): AsyncGenerator<string | undefined> {
  const { words, management, isReadable } = options;
  let answer = options.first;
  let shown: { readonly mark: string | undefined; readonly tables: string } = { mark: undefined, tables: '' };
  let isAway = false;
  while (!signal.aborted && (answer.kind !== 'refused' || isPassing(answer))) {
    if (answer.kind !== 'value') {
      yield isAway ? undefined : `${await refusalNotice(words, answer)}${shown.tables}`;
      isAway = true;
      shown = { ...shown, mark: undefined };
    } else if (answer.value.mark === shown.mark) {
      yield undefined;
    } else {
      isAway = false;
      shown = { mark: answer.value.mark, tables: String(await overviewTables(words, answer.value, isReadable)) };
      yield shown.tables;
    }
    answer = await management.overview(shown.mark, signal);
  }
}
