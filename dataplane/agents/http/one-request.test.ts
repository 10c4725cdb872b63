import { expect } from 'vitest';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import { verifies } from '../../../e2e/support/verifies.ts';
import { confirmRequested } from '../confirm-requested.ts';
import { createHandler } from './create-handler.ts';

/** The internal requests of the startup check, which sends the same text as the same caller in each protocol. */
async function checkedRequests(
  mode: 'a2a.message' | 'a2a.streaming' | 'mcp.tool',
): Promise<readonly ExecutionRequest[]> {
  const requests: ExecutionRequest[] = [];
  const handlerOf: Parameters<typeof confirmRequested>[1] = ({ served, ...options }) => {
    const own = served();
    if (own.kind !== 'ready') throw new Error('the built-in agent is not ready');
    const { application } = own.server;
    const observer = { ...application.observer, started: (request: ExecutionRequest) => void requests.push(request) };
    const server = { ...own.server, application: { ...application, observer } };
    return createHandler({ ...options, served: () => ({ kind: 'ready', server }) });
  };
  await confirmRequested([mode], handlerOf, () => undefined);
  return requests;
}

verifies(
  ['agents:internal-model:neutral'],
  'equivalent calls over A2A and MCP yield the same internal request, apart from ids of the run, the trace and the session',
  async () => {
    const requests = [];
    for (const mode of ['a2a.message', 'a2a.streaming', 'mcp.tool'] as const) {
      const [request, ...more] = await checkedRequests(mode);
      expect(more).toEqual([]);
      requests.push(request);
    }
    const [sent, streamed, called] = requests.map((request) => {
      const { runId, traceId, trace, meter, context, ...rest } = request ?? ({} as ExecutionRequest);
      const { sessionId, ...caller } = context;
      for (const id of [runId, traceId, trace?.spanId, sessionId]) expect(id).toMatch(/^.{8,}$/);
      return { ...rest, caller, spent: meter?.used() };
    });
    expect(called).toEqual({
      entrypoint: 'main',
      input: { text: 'check' },
      caller: {
        userId: 'selfcheck',
        userIssuer: 'selfcheck',
        actors: [],
        agentId: sent?.caller.agentId,
        versionId: sent?.caller.versionId,
      },
      budget: { timeoutMs: expect.any(Number) },
      spent: expect.anything(),
    });
    expect([sent, streamed]).toEqual([called, called]);
  },
);
