import { Hono } from 'hono';
import type { AgentState } from '#contracts/agent-state';
import type { AgentMetrics } from './metrics.ts';
import type { RunRing } from './run-ring.ts';

type AdminParts = {
  readonly state: () => AgentState;
  readonly metrics: AgentMetrics;
  readonly ring: RunRing;
};

/** Serves liveness, readiness, metrics, state and the newest runs on a different address than calls. */
export function createAgentAdmin({ state, metrics, ring }: AdminParts): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', (context) => {
    const { problems, ready } = state();
    const lines = problems.map(({ code, capability, message }) => `${code} ${capability ?? message}\n`);
    return ready ? context.text('ok\n') : context.text(lines.join(''), 503);
  });
  app.get('/metrics', async (context) => {
    const { ready: isReady, runs, failingProviders = [] } = state();
    metrics.observe({ isReady, runs, failingProviders: failingProviders.length });
    return context.body(await metrics.registry.exposition(), 200, { 'content-type': metrics.registry.contentType });
  });
  app.get('/state', (context) => context.json(state()));
  app.get('/runs', (context) => context.json({ runs: ring.list() }));
  return app;
}
