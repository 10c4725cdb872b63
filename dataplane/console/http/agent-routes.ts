import type { Hono } from 'hono';
import type { z } from 'zod';
import { type AgentRecord, agentPageSchema, agentRecordSchema, foundAgentsSchema } from '#contracts/catalogue';
import {
  managedAgentListSchema,
  managedAgentSchema,
  managedFlowSchema,
  versionsWithoutAgentSchema,
} from '#contracts/managed-agents';
import { drawFlow } from '#flow/drawing/draw-flow';
import { loadVersionFlow } from '#flow/loader/load-version-flow';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import { agentPage } from '../pages/agent.ts';
import { agentFlowPage } from '../pages/agent-flow.ts';
import { type AgentList, agentsPage, type FoundAgents, listedAgents, matchingAgents } from '../pages/agents.ts';
import { refusalNotice } from '../pages/notice.ts';
import { agentIdForm, versionForm } from './agent-forms.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { mayReadVersions } from './may-read-versions.ts';
import { readForm } from './read-form.ts';
import { runsOfAgent } from './run-routes.ts';
import { withMissing } from './with-missing.ts';

type AgentRoutes = {
  /** The catalogue for the signed-in person. */
  readonly apiOf: (context: ConsoleContext) => TenantApi;
  /** The gateway that serves agents, called for the signed-in person; undefined if this console has no gateway. */
  readonly gatewayOf: ((context: ConsoleContext) => TenantApi) | undefined;
};

/** Adds the pages about agents: the list and the search of the catalogue, one agent, and the flows of its versions. */
export function addAgentRoutes(app: Hono<ConsoleEnvironment>, { apiOf, gatewayOf }: AgentRoutes): void {
  app.get('/agents', async (context) => {
    const page = context.get('page');
    const api = apiOf(context);
    const workspace = context.req.query('workspace') ?? '';
    const [known, listed, declared, withoutAgent] = await Promise.all([
      knownWorkspaces(api),
      listAgents(api, workspace, context.req.query('cursor')),
      declaredAgents(context),
      versionsWithoutAgent(context),
    ]);
    if (listed.kind !== 'value') return answerRefusal(context, page.words.agents, listed);
    const names = known.kind === 'value' ? known.value.names : [];
    const workspaces = [...new Set([...names, ...(workspace === '' ? [] : [workspace])])].sort();
    const shown = agentsPage(page, {
      ...{ ...listed.value, workspaces, workspace },
      declared: itemsOf(declared),
      withoutAgent: itemsOf(withoutAgent),
    });
    const { agentPages: own } = page.words;
    const parts = [
      [own.workspace, known],
      [own.declared, declared],
      [own.withoutAgent, withoutAgent],
    ] as const;
    return answerPage(context, withMissing(page.words, shown, parts));
  });

  app.post('/agents/search', async (context) => {
    const page = context.get('page');
    const api = apiOf(context);
    const { task = '', workspace = '' } = await readForm(context);
    const query = task.trim();
    if (query === '') {
      const listed = await listAgents(api, workspace, undefined);
      if (listed.kind !== 'value') return answerRefusal(context, page.words.agents, listed);
      const main = listedAgents(page, { ...listed.value, workspace });
      return answerPage(context, { title: page.words.agents, main });
    }
    const found = await (workspace === '' ? searchEverywhere(api, query) : searchOne(api, query, workspace));
    if (found.kind !== 'value') return answerRefusal(context, page.words.agents, found);
    return answerPage(context, { title: page.words.agents, main: matchingAgents(page, found.value) });
  });

  app.get(`/agents/${agentIdForm}`, async (context) => {
    const page = context.get('page');
    const agentId = context.req.param('id');
    const read = apiOf(context).call(`/api/v1/agents/${agentId}`, agentRecordSchema);
    const [record, managed, runs] = await Promise.all([
      read,
      managedAgent(context, agentId, read),
      gatewayOf === undefined ? undefined : runsOfAgent(gatewayOf(context), agentId),
    ]);
    if (record.kind !== 'value') {
      if (!isAbsent(record) || managed === undefined) return answerRefusal(context, page.words.agents, record);
      // The agent may exist although the person may not view its record, so only the management API can tell that it
      // does not exist.
      if (managed.kind !== 'value') return answerRefusal(context, page.words.agents, managed);
    }
    const card = record.kind === 'value' ? record.value : undefined;
    const shown =
      managed === undefined || managed.kind === 'value' ? managed?.value : refusalNotice(page.words, managed);
    const whole = agentPage(page, {
      agentId,
      record: card,
      managed: shown,
      noChat: obstacle(card, gatewayOf !== undefined),
      runs: runs?.kind === 'value' ? runs.value : undefined,
      hasGateway: gatewayOf !== undefined,
    });
    return answerPage(context, withMissing(page.words, whole, [[page.words.runPages.runs, runs]]));
  });

  app.get(`/agents/${agentIdForm}/versions/${versionForm}/flow`, async (context) => {
    const page = context.get('page');
    const answer = await flowOf(context);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.agentPages.flow, answer);
    const { name, flow: text, subflows } = answer.value;
    const [agentId, versionId] = [context.req.param('id'), context.req.param('version')];
    return answerPage(
      context,
      agentFlowPage(page, { agentId, versionId, name, text, load: loadVersionFlow(text, subflows) }),
    );
  });

  app.get(`/agents/${agentIdForm}/versions/${versionForm}/flow.svg`, async (context) => {
    const { words } = context.get('page');
    const answer = await flowOf(context);
    if (answer.kind !== 'value') return answerRefusal(context, words.agentPages.flow, answer);
    const load = loadVersionFlow(answer.value.flow, answer.value.subflows);
    if (!load.ok) return context.text(`${words.agentPages.flowInvalid}\n`, 422);
    return context.body(await drawFlow(load.flow), 200, { 'content-type': 'image/svg+xml; charset=utf-8' });
  });
}

/** Maximum number of pages of 100 agents that are read for the names of their workspaces. */
const mostPages = 10;

/** The workspaces of the agents that the person may view; `isAll` is false if not all agents were read. */
async function knownWorkspaces(
  api: TenantApi,
): Promise<ApiAnswer<{ readonly names: readonly string[]; readonly isAll: boolean }>> {
  const names = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const query = new URLSearchParams({ limit: '100', ...(cursor === null ? {} : { cursor }) });
    const answer: ApiAnswer<z.infer<typeof agentPageSchema>> = await api.call(
      `/api/v1/agents?${query}`,
      agentPageSchema,
    );
    if (answer.kind !== 'value') return answer;
    for (const agent of answer.value.items) names.add(agent.workspace);
    cursor = answer.value.nextCursor;
    if (cursor === null) break;
  }
  return { kind: 'value', etag: undefined, value: { names: [...names], isAll: cursor === null } };
}

async function listAgents(
  api: TenantApi,
  workspace: string,
  cursor: string | undefined,
): Promise<ApiAnswer<Pick<AgentList, 'agents' | 'nextCursor'>>> {
  const filters = {
    ...(workspace === '' ? {} : { workspaceId: workspace }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  const answer = await api.call(`/api/v1/agents?${new URLSearchParams(filters)}`, agentPageSchema);
  if (answer.kind !== 'value') return answer;
  return { ...answer, value: { agents: answer.value.items, nextCursor: answer.value.nextCursor } };
}

async function searchIn(api: TenantApi, query: string, workspaceId: string): Promise<ApiAnswer<FoundAgents['agents']>> {
  const call = { method: 'POST', body: { query, workspaceId } } as const;
  const answer = await api.call('/api/v1/agents/search', foundAgentsSchema, call);
  return answer.kind === 'value' ? { ...answer, value: answer.value.matches } : answer;
}

async function searchOne(api: TenantApi, query: string, workspace: string): Promise<ApiAnswer<FoundAgents>> {
  const answer = await searchIn(api, query, workspace);
  return answer.kind === 'value' ? { ...answer, value: { agents: answer.value, onlyIn: undefined } } : answer;
}

/**
 * The catalogue searches one workspace. If the person chose no workspace, each known one is searched, best matches
 * first.
 */
async function searchEverywhere(api: TenantApi, query: string): Promise<ApiAnswer<FoundAgents>> {
  const known = await knownWorkspaces(api);
  if (known.kind !== 'value') return known;
  const workspaces = known.value.names.slice(0, mostWorkspaces);
  const found: FoundAgents['agents'][number][] = [];
  let answered = 0;
  let refused: Exclude<Awaited<ReturnType<typeof searchIn>>, { kind: 'value' }> | undefined;
  for (let at = 0; at < workspaces.length; at += workspacesAtOnce) {
    const some = workspaces.slice(at, at + workspacesAtOnce);
    const answers = await Promise.all(some.map((one) => searchIn(api, query, one)));
    for (const answer of answers) {
      if (answer.kind === 'value') {
        answered += 1;
        found.push(...answer.value);
      } else refused ??= answer;
    }
  }
  if (answered === 0 && refused !== undefined) return refused;
  const agents = found.toSorted((one, other) => (other.score ?? 0) - (one.score ?? 0));
  const isEverywhere = known.value.isAll && answered === known.value.names.length;
  return { kind: 'value', etag: undefined, value: { agents, onlyIn: isEverywhere ? undefined : answered } };
}

/** This number is below the number of requests that the catalogue accepts from one caller at a time. */
const workspacesAtOnce = 8;
const mostWorkspaces = 40;

/** Reads the declared agents; undefined without the right to view the control plane. */
async function declaredAgents(context: ConsoleContext) {
  if (!context.get('session').rights.view) return undefined;
  return context.get('management').call('/api/v1/agents', managedAgentListSchema);
}

/** Reads the versions of an agent; undefined without the right to view the control plane. */
async function versionsWithoutAgent(context: ConsoleContext) {
  if (!context.get('session').rights.view) return undefined;
  return context.get('management').call('/api/v1/agent-versions/without-agent', versionsWithoutAgentSchema);
}

function itemsOf<T>(answer: ApiAnswer<{ readonly items: T[] }> | undefined): T[] | undefined {
  return answer?.kind === 'value' ? answer.value.items : undefined;
}

/** Reads the managed agent; undefined unless the person owns the agent or has the right to view the control plane. */
async function managedAgent(context: ConsoleContext, agentId: string, read: Promise<ApiAnswer<AgentRecord>>) {
  if (!(await mayReadVersions(context, () => read))) return undefined;
  const answer = await context.get('management').call(`/api/v1/agents/${agentId}`, managedAgentSchema);
  return answer.kind === 'refused' && answer.status === 403 ? undefined : answer;
}

function flowOf(context: ConsoleContext) {
  const { id, version } = context.req.param() as { readonly id: string; readonly version: string };
  return context.get('management').call(`/api/v1/agents/${id}/versions/${version}/flow`, managedFlowSchema);
}

function isAbsent(answer: Exclude<ApiAnswer<unknown>, { kind: 'value' }>): boolean {
  return answer.kind === 'refused' && answer.status === 404;
}

/** Why the person cannot talk to an agent; undefined if it can. */
function obstacle(record: AgentRecord | undefined, hasGateway: boolean): 'address' | 'mcp' | 'gateway' | undefined {
  if (record?.invocationInterface === undefined) return 'address';
  if (record.protocol === 'mcp') return 'mcp';
  return hasGateway ? undefined : 'gateway';
}
