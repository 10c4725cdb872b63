import type { Hono } from 'hono';
import { collectedActivitySchema } from '#contracts/activity';
import { activityPage } from '../pages/activity.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleEnvironment } from './environment.ts';

/** Decisions of the gateways. */
export function addActivityRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/activity', async (context) => {
    const page = context.get('page');
    const outcome = context.req.query('outcome') ?? '';
    const query = outcome === '' ? '' : `?outcome=${encodeURIComponent(outcome)}`;
    const answer = await context.get('management').call(`/api/v1/activity${query}`, collectedActivitySchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.activity, answer);
    return answerPage(context, activityPage(page, answer.value, outcome));
  });
}
