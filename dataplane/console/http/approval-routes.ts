import type { Hono } from 'hono';
import { type Approval, approvalSchema, approvalsSchema } from '#contracts/approvals';
import type { AuditAuthor } from '#contracts/audit';
import { policyDetailSchema } from '#contracts/management';
import type { OwnRights } from '#contracts/rights';
import { type ManagementApi, noRights } from '../clients/management-api.ts';
import { approvalsPage, type ShownApproval } from '../pages/approvals.ts';
import { peopleOfToken, personKey } from '../sessions/token-people.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readablePolicies } from './readable-policies.ts';
import { withMissing } from './with-missing.ts';

const approvalsPath = '/api/v1/approvals';
/** How many policies have their names read for one page; other policies are shown by their ids. */
const mostNames = 20;

/** Commands that wait for a second person, and their approval. */
export function addApprovalRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/approvals', showApprovals);
  app.post('/approvals/:id{[0-9a-fA-F-]{36}}/approve', approve);
}

async function showApprovals(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const api = context.get('management');
  const { token, rights: session } = context.get('session');
  const [list, held, overview] = await Promise.all([
    api.call(approvalsPath, approvalsSchema),
    api.ownRights(),
    session.view || session.readsModels ? api.overview() : undefined,
  ]);
  const { approvalPages: own, operationPages, errors } = page.words;
  if (list.kind !== 'value') return answerRefusal(context, own.title, list);
  const rights = held.kind === 'value' ? held.value : noRights;
  const isReadable = await readablePolicies(context);
  const names = await policyNames(api, list.value.items.flatMap(policyIdsOf).filter(isReadable));
  const models = overview?.kind === 'value' ? overview.value.models : [];
  const people = peopleOfToken(token);
  const shown = list.value.items.map((approval): ShownApproval => {
    const { target, after, requester } = approval;
    const policyId = after?.policyId ?? null;
    const alias = models.find(({ modelId }) => modelId === target.id)?.alias;
    return {
      approval,
      target: (target.type === 'policy' ? names.get(target.id) : alias) ?? target.id,
      policy:
        policyId === null
          ? null
          : { id: policyId, name: names.get(policyId) ?? policyId, isReadable: isReadable(policyId) },
      isOwn: chainOf(requester).some((one) => people.has(one)),
      mayCarryOut: mayCarryOut(rights, approval),
    };
  });
  const parts = [
    [errors.rights, held],
    [operationPages.object, overview],
  ] as const;
  return answerPage(context, withMissing(page.words, approvalsPage(page, shown), parts));
}

async function approve(context: ConsoleContext): Promise<Response> {
  const path = `${approvalsPath}/${context.req.param('id')}/approve`;
  const answer = await context.get('management').call(path, approvalSchema, { method: 'POST' });
  if (answer.kind !== 'value') {
    return answerRefusal(context, context.get('page').words.approvalPages.title, answer);
  }
  return context.redirect('/approvals', 303);
}

function policyIdsOf({ target, after }: Approval): readonly string[] {
  const asked = after?.policyId ?? null;
  return [...(target.type === 'policy' ? [target.id] : []), ...(asked === null ? [] : [asked])];
}

async function policyNames(api: ManagementApi, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(ids)].slice(0, mostNames);
  const answers = await Promise.all(
    asked.map((id) => api.call(`/api/v1/guardrail-policies/${encodeURIComponent(id)}`, policyDetailSchema)),
  );
  return new Map(
    answers.flatMap((answer) => (answer.kind === 'value' ? [[answer.value.id, answer.value.name] as const] : [])),
  );
}

/** Whether the person has the right of the command, which an approval of the command requires, too. */
function mayCarryOut(rights: OwnRights, { kind, target }: Approval): boolean {
  return kind === 'policy.archive'
    ? rights.author || rights.policies.includes(target.id)
    : rights.apply || rights.models.includes(target.id);
}

/** A person may not approve a command that the person, or an agent that acts for the person, sent. */
function chainOf(author: AuditAuthor): readonly string[] {
  return author.kind === 'token' ? [author, ...author.actors].map(personKey) : [];
}
