import type { Hono } from 'hono';
import { collectedActivitySchema } from '#contracts/activity';
import { auditPageSchema } from '#contracts/audit';
import { activityPage, auditPage } from '../pages/activity.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleEnvironment } from './environment.ts';

/** Decisions of the gateways, and the audit log. */
export function addActivityRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/activity', async (context) => {
    const page = context.get('page');
    const outcome = context.req.query('outcome') ?? '';
    const query = outcome === '' ? '' : `?outcome=${encodeURIComponent(outcome)}`;
    const answer = await context.get('management').call(`/api/v1/activity${query}`, collectedActivitySchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.activity, answer);
    return answerPage(context, activityPage(page, answer.value, outcome));
  });

  app.get('/audit', async (context) => {
    const page = context.get('page');
    const cursor = context.req.query('cursor');
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const answer = await context.get('management').call(`/api/v1/audit${query}`, auditPageSchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.audit.title, answer);
    return answerPage(context, auditPage(page, answer.value));
  });
}
