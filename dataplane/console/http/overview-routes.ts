import type { Hono } from 'hono';
import { compress } from 'hono/compress';
import { collectedCountsSchema } from '#contracts/decision-counts';
import type { Overview } from '#contracts/overview';
import type { ApiAnswer } from '../clients/call-api.ts';
import { isPassing } from '../clients/is-passing.ts';
import type { ManagementApi } from '../clients/management-api.ts';
import { decisionCharts } from '../pages/decision-chart.ts';
import { refusalNotice } from '../pages/notice.ts';
import { overviewPage, overviewPathOf, overviewTables } from '../pages/overview.ts';
import { type OverviewPlace, readOverviewPlace } from '../pages/overview-place.ts';
import type { Words } from '../words/en.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readablePolicies } from './readable-policies.ts';
import { type StreamedPart, streamEvents } from './stream-events.ts';

/** The overview, the stream that sends its tables again after each change, and the decisions of the last hour. */
export function addOverviewRoutes(app: Hono<ConsoleEnvironment>, stopping: AbortSignal): void {
  app.get('/overview', async (context) => {
    const answer = await context.get('management').overview();
    const page = context.get('page');
    if (answer.kind !== 'value') return answerRefusal(context, page.words.overview, answer);
    const model = context.req.query('model');
    if (model !== undefined) return context.redirect(overviewPathOf(answer.value.models, model), 303);
    const isReadable = await readablePolicies(context);
    return answerPage(context, overviewPage(page, answer.value, { isReadable, place: placeOf(context) }));
  });

  // A chart has very many bars, so that it is compressed. It has no secret of the session, whose length a compressed
  // answer could reveal.
  app.get('/overview/decisions', compress(), async (context) => {
    const page = context.get('page');
    const answer = await context.get('management').call('/api/v1/decision-counts', collectedCountsSchema);
    return context.html(
      await (answer.kind === 'value'
        ? decisionCharts(page, answer.value, { now: new Date(), place: placeOf(context) })
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
    // The state that the browser already has: from its page or, after a lost connection, from its last event.
    const known = context.req.header('last-event-id') ?? context.req.query('shown');
    const options = { words, management, first, known, isReadable, place: placeOf(context) };
    return streamEvents(context, (signal) => overviewEvents(options, signal), stopping);
  });
}

function placeOf(context: ConsoleContext): OverviewPlace {
  return readOverviewPlace((name) => context.req.query(name));
}

/** The id of an event with a notice, which is no mark: after it a browser gets the tables again. */
const noMark = 'none';

/**
 * Sends the tables after each change. While the API does not answer, or the person has sent too many requests, a notice
 * is shown once above the last known tables; the next answer replaces both. Any other refusal ends the stream.
 */
async function* overviewEvents(
  options: {
    readonly words: Words;
    readonly management: ManagementApi;
    readonly first: ApiAnswer<Overview>;
    /** The mark of the tables that the browser shows. */
    readonly known: string | undefined;
    readonly isReadable: Awaited<ReturnType<typeof readablePolicies>>;
    readonly place: OverviewPlace;
  },
  signal: AbortSignal,
): AsyncGenerator<StreamedPart | undefined> {
  const { words, management, first, known, ...rest } = options;
  const tablesOf = async (overview: Overview): Promise<string> => String(await overviewTables(words, overview, rest));
  let answer = first;
  let shown: { readonly mark: string | undefined; readonly tables: string } = { mark: undefined, tables: '' };
  let isAway = false;
  if (answer.kind === 'value' && answer.value.mark === known) {
    shown = { mark: known, tables: await tablesOf(answer.value) };
    yield '';
    answer = await management.overview(known, signal);
  }
  while (!signal.aborted && (answer.kind !== 'refused' || isPassing(answer))) {
    if (answer.kind !== 'value') {
      yield isAway ? undefined : { html: `${await refusalNotice(words, answer)}${shown.tables}`, id: noMark };
      isAway = true;
      shown = { ...shown, mark: undefined };
    } else if (answer.value.mark === shown.mark) {
      yield undefined;
    } else {
      isAway = false;
      shown = { mark: answer.value.mark, tables: await tablesOf(answer.value) };
      yield { html: shown.tables, id: answer.value.mark };
    }
    answer = await management.overview(shown.mark, signal);
  }
}
