import type { Hono } from 'hono';
import { overviewPage, overviewTables } from '../pages/overview.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { streamEvents } from './stream-events.ts';

/** The overview, and the stream that sends its tables again after each change. */
export function addOverviewRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/overview', async (context) => {
    const answer = await context.get('management').overview();
    const page = context.get('page');
    if (answer.kind !== 'value') return answerRefusal(context, page.words.overview, answer);
    return answerPage(context, overviewPage(page, answer.value));
  });

  app.get('/overview/events', (context) => {
    const { words } = context.get('page');
    const management = context.get('management');
    return streamEvents(context, async function* (signal) {
      let mark: string | undefined;
      while (!signal.aborted) {
        const answer = await management.overview(mark, signal);
        if (answer.kind === 'refused') return;
        if (answer.kind === 'away') {
          yield undefined;
          continue;
        }
        if (answer.value.mark === mark) yield undefined;
        else yield String(await overviewTables(words, answer.value));
        ({ mark } = answer.value);
      }
    });
  });
}
