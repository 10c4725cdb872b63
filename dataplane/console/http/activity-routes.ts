import type { Hono } from 'hono';
import { collectedActivitySchema } from '#contracts/activity';
import { activityPage } from '../pages/activity.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleEnvironment } from './environment.ts';

/** Decisions of the gateways. */
export function addActivityRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/activity', async (context) => {
    const page = context.get('page');
    const asked = context.req.query('outcome') ?? '';
    // A changed address can have an unknown outcome; it is ignored.
    const outcome = Object.hasOwn(page.words.act.outcomes, asked) ? asked : '';
    const query = outcome === '' ? '' : `?outcome=${encodeURIComponent(outcome)}`;
    const answer = await context.get('management').call(`/api/v1/activity${query}`, collectedActivitySchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.activity, answer);
    return answerPage(context, activityPage(page, answer.value, outcome));
  });
}
