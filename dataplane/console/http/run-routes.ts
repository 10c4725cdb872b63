import type { Hono } from 'hono';
import type { z } from 'zod';
import { type TracedRunList, tracedRunListSchema, tracedRunSchema } from '#contracts/agent-runs';
import { agentRecordSchema } from '#contracts/catalogue';
import { managedFlowSchema } from '#contracts/managed-agents';
import { drawFlow } from '#flow/drawing/draw-flow';
import { markRun } from '#flow/drawing/mark-run';
import { loadVersionFlow } from '#flow/loader/load-version-flow';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import { agentRunPage, agentRunsPage, newestRuns, runState } from '../pages/agent-runs.ts';
import { agentIdForm, versionForm } from './agent-forms.ts';
import { answerPage, answerRefusal, answerState } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { mayReadVersions } from './may-read-versions.ts';

type RunRoutes = {
  /** The gateway that serves agents, for the signed-in person. */
  readonly apiOf: (context: ConsoleContext) => TenantApi;
  /** The catalogue for the signed-in person. */
  readonly catalogueOf: (context: ConsoleContext) => TenantApi;
};

const runForm = ':run{[0-9a-f-]{36}}';

/** The newest runs of the served version that the person may read. */
export function runsOfAgent(api: TenantApi, agentId: string): Promise<ApiAnswer<TracedRunList>> {
  return api.call(`/agents/${agentId.toLowerCase()}/runs`, tracedRunListSchema);
}

/** Adds the pages of runs of agents: the runs that a version keeps for the person, and the trace of one run. */
export function addRunRoutes(app: Hono<ConsoleEnvironment>, { apiOf, catalogueOf }: RunRoutes): void {
  const base = `/agents/${agentIdForm}/versions/${versionForm}/runs`;

  app.get(base, async (context) => {
    const page = context.get('page');
    const agentId = context.req.param('id');
    const answer = await apiOf(context).call(runsPath(context), tracedRunListSchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.runPages.runs, answer);
    return answerPage(context, agentRunsPage(page, { agentId, list: answer.value }));
  });

  app.get(`${base}/${runForm}`, async (context) => {
    const page = context.get('page');
    const [answer, flow] = await Promise.all([runOf(context), flowOf(context)]);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.runPages.title, answer);
    const hasGraph = isDrawable(flow);
    return answerPage(
      context,
      agentRunPage(page, { agentId: context.req.param('id'), path: pathOf(context), run: answer.value, hasGraph }),
    );
  });

  app.get(`${base}/${runForm}/state`, async (context) => {
    const page = context.get('page');
    // A page that has the graph keeps it: the read of a flow costs as much as ten of other objects.
    const isKnown = context.req.query('graph') === '1';
    const [answer, flow] = await Promise.all([runOf(context), isKnown ? undefined : flowOf(context)]);
    if (answer.kind !== 'value') return answerState(context, answer);
    const hasGraph = isKnown || isDrawable(flow);
    return context.html(await runState(page, { path: pathOf(context), run: answer.value, hasGraph }));
  });

  app.get(`/agents/${agentIdForm}/runs`, async (context) => {
    const agentId = context.req.param('id');
    const answer = await runsOfAgent(apiOf(context), agentId);
    if (answer.kind !== 'value') return context.body(null, 204);
    return context.html(await newestRuns(context.get('page'), agentId, answer.value));
  });

  app.get(`${base}/${runForm}/flow.svg`, async (context) => {
    const { words } = context.get('page');
    const [answer, flow] = await Promise.all([runOf(context), flowOf(context)]);
    if (answer.kind !== 'value') return answerRefusal(context, words.runPages.title, answer);
    if (flow === undefined) return context.text(`${words.runPages.noGraph}\n`, 403);
    if (flow.kind !== 'value') return answerRefusal(context, words.agentPages.flow, flow);
    const load = loadVersionFlow(flow.value.flow, flow.value.subflows);
    if (!load.ok) return context.text(`${words.agentPages.flowInvalid}\n`, 422);
    const drawn = await drawFlow(load.flow, markRun(load.flow, answer.value.nodes));
    return context.body(drawn, 200, { 'content-type': 'image/svg+xml; charset=utf-8' });
  });

  /**
   * The managed version of a run; undefined for a person who may not view the control plane and does not own the agent.
   */
  async function flowOf(context: ConsoleContext) {
    const { id, version } = context.req.param() as Readonly<Record<string, string>>;
    const record = () => catalogueOf(context).call(`/api/v1/agents/${id}`, agentRecordSchema);
    if (!(await mayReadVersions(context, record))) return undefined;
    const path = `/api/v1/agents/${id}/versions/${version}/flow`;
    const answer = await context.get('management').call(path, managedFlowSchema);
    return answer.kind === 'refused' && answer.status === 403 ? undefined : answer;
  }

  function runOf(context: ConsoleContext) {
    return apiOf(context).call(`${runsPath(context)}/${context.req.param('run')}`, tracedRunSchema);
  }
}

/** The path at the gateway, which takes ids in lower case. */
function runsPath(context: ConsoleContext): string {
  const { id = '', version = '' } = context.req.param() as Readonly<Record<string, string>>;
  return `/agents/${id.toLowerCase()}/versions/${version.toLowerCase()}/runs`;
}

/** The address of the page of a run. */
function pathOf(context: ConsoleContext): string {
  const { id, version, run } = context.req.param() as Readonly<Record<string, string>>;
  return `/agents/${id}/versions/${version}/runs/${run}`;
}

function isDrawable(flow: ApiAnswer<z.infer<typeof managedFlowSchema>> | undefined): boolean {
  return flow?.kind === 'value' && loadVersionFlow(flow.value.flow, flow.value.subflows).ok;
}
