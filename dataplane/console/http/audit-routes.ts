import type { Hono } from 'hono';
import { auditChainsSchema, auditPageSchema } from '#contracts/audit';
import { proveAuditLog } from '../clients/prove-audit-log.ts';
import { type AuditPageFilters, auditFilterNames, auditPage, proofState } from '../pages/audit.ts';
import { refusalNotice } from '../pages/notice.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { refuseWithout } from './refuse-without.ts';
import { streamEvents } from './stream-events.ts';
import { withMissing } from './with-missing.ts';

/** Entries of a page of the console. */
const pageSize = '50';

/** Adds the pages of the audit log, and the proof of its chains as a stream. */
export function addAuditRoutes(app: Hono<ConsoleEnvironment>, stopping: AbortSignal): void {
  app.get('/audit', async (context) => {
    const page = context.get('page');
    const filters = filtersOf(context);
    const cursor = context.req.query('cursor') ?? '';
    const management = context.get('management');
    const [chains, answer] = await Promise.all([
      management.call('/api/v1/audit/chains', auditChainsSchema),
      management.call(`/api/v1/audit?${apiQuery(filters, cursor)}`, auditPageSchema),
    ]);
    const listed = chains.kind === 'value' ? chains.value.items : [];
    const shown = { filters, chains: listed, isLater: cursor !== '' };
    const parts = [[page.words.audit.service, chains]] as const;
    if (answer.kind === 'value') {
      return answerPage(context, withMissing(page.words, auditPage(page, { ...shown, found: answer.value }), parts));
    }
    // A filter that the API does not take can be corrected in the form.
    if (answer.kind !== 'refused' || answer.status !== 400) {
      return answerRefusal(context, page.words.audit.title, answer);
    }
    return answerPage(context, auditPage(page, { ...shown, found: refusalNotice(page.words, answer) }), 400);
  });

  app.post('/audit/verify', async (context) => {
    const { words } = context.get('page');
    const refusal = await refuseWithout(context, words.audit.title, ({ administer }) => administer);
    if (refusal !== undefined) return refusal;
    const management = context.get('management');
    async function* parts(signal: AbortSignal): AsyncGenerator<string> {
      for await (const event of proveAuditLog(management, signal)) yield String(await proofState(words, event));
    }
    return streamEvents(context, parts, stopping);
  });
}

function filtersOf(context: ConsoleContext): AuditPageFilters {
  const given = auditFilterNames.map((name) => [name, context.req.query(name)?.trim() ?? '']);
  return Object.fromEntries(given) as AuditPageFilters;
}

/** The parameters of the API. */
function apiQuery({ since, until, ...words }: AuditPageFilters, cursor: string): string {
  const all = { ...words, since: instantOf(since), until: instantOf(until), cursor, limit: pageSize };
  return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== '')).toString();
}

/** A day or a minute in UTC as a person types it; the API refuses other forms. */
function instantOf(typed: string): string {
  const [, day, minute = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?$/.exec(typed) ?? [];
  return day === undefined ? typed : `${day}T${minute}:00Z`;
}
