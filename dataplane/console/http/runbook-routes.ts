import type { Hono } from 'hono';
import { readRunbooks } from '../clients/runbooks.ts';
import { runbookPage, runbooksPage } from '../pages/runbooks.ts';
import { answerPage } from './answer-page.ts';
import type { ConsoleEnvironment } from './environment.ts';

/**
 * Adds the pages of the runbooks of this release, to which notices and causes link. They need a session but no role.
 */
export function addRunbookRoutes(app: Hono<ConsoleEnvironment>): void {
  const runbooks = readRunbooks();
  app.get('/runbooks', (context) => answerPage(context, runbooksPage(context.get('page'), [...runbooks.values()])));
  app.get('/runbooks/:name{[a-z0-9-]+}', (context) => {
    const runbook = runbooks.get(context.req.param('name'));
    if (runbook === undefined) return context.notFound();
    return answerPage(context, runbookPage(context.get('page'), runbook));
  });
}
