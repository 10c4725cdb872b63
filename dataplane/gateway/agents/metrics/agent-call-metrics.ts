import { type AgentGatewayErrorCode, agentGatewayErrors } from '#contracts/agent-gateway-errors';
import type { Metrics } from '#kit/metrics/metrics';
import type { UsedBudget } from '../budgets/ports.ts';
import { agentOperationNames } from '../calls/parse-call.ts';

/** Maximum number of agents that have their own metric series; all further agents share one series. */
const maxAgents = 200;

/** The code of a call of an agent; `none` if the process of the agent has answered. */
export type CallCode = AgentGatewayErrorCode | 'none';

export type AgentCallMetrics = {
  readonly runs: { add(value: number): void };
  /** `agent` is the name in the route, and empty unless the caller may see the agent. */
  ended(facts: {
    readonly agent: string;
    readonly operation: string;
    readonly code: CallCode;
    readonly seconds: number;
    readonly sent: number;
    readonly received: number;
    /** Whether the process may have received the call of a run. */
    readonly hasStarted: boolean;
  }): void;
  exchanged(outcome: string): void;
  /** Counts a run that was refused because the budget of its person is used up. */
  budgetUsed(agent: string, used: UsedBudget): void;
};

/** Results of the token exchange: an error code of RFC 8693, or `issued`. */
const exchangeOutcomes = [
  'issued',
  'invalid_request',
  'unsupported_grant_type',
  'invalid_grant',
  'invalid_target',
  'rate_limited',
  'temporarily_unavailable',
] as const;

export function createAgentCallMetrics(registry: Metrics): AgentCallMetrics {
  const codes = ['none', ...Object.keys(agentGatewayErrors)];
  const agent = { bounded: maxAgents } as const;
  const calls = registry.counter({
    name: 'portcullis_gateway_agent_calls_total',
    help: 'Calls of agents that ended, by agent, operation and the code of the refusal; none where the agent answered.',
    labels: { agent, operation: agentOperationNames, code: codes },
  });
  const started = registry.counter({
    name: 'portcullis_gateway_agent_runs_total',
    help: 'Runs that calls have started, by agent.',
    labels: { agent },
  });
  const bytes = registry.counter({
    name: 'portcullis_gateway_agent_bytes_total',
    help: 'Bytes of bodies that were sent on, by agent and direction.',
    labels: { agent, direction: ['to_agent', 'to_client'] },
  });
  const seconds = registry.histogram({
    name: 'portcullis_gateway_agent_call_seconds',
    help: 'Duration of calls of agents, streams included, seconds.',
    labels: { operation: agentOperationNames },
    buckets: [0.005, 0.02, 0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900],
  });
  const inFlight = registry.gauge({
    name: 'portcullis_gateway_agent_runs_in_flight',
    help: 'Runs in flight: accepted, and their answer not yet forwarded completely.',
    labels: {},
  });
  const exchanges = registry.counter({
    name: 'portcullis_gateway_token_exchanges_total',
    help: 'Requests for tokens by runs of agents, by result.',
    labels: { outcome: exchangeOutcomes },
  });
  const refusals = registry.counter({
    name: 'portcullis_gateway_agent_budget_refusals_total',
    help: 'Runs that were refused because their person has used a budget of the span, by agent and budget.',
    labels: { agent, limit: ['runs', 'tokens', 'bytes'], span: ['minute', 'day'] },
  });
  return {
    runs: inFlight.series({}),
    ended(facts) {
      const name = facts.agent === '' ? 'none' : facts.agent;
      calls.add({ agent: name, operation: facts.operation, code: facts.code });
      seconds.observe({ operation: facts.operation }, facts.seconds);
      if (facts.hasStarted) started.add({ agent: name });
      if (facts.sent > 0) bytes.add({ agent: name, direction: 'to_agent' }, facts.sent);
      if (facts.received > 0) bytes.add({ agent: name, direction: 'to_client' }, facts.received);
    },
    budgetUsed: (name, { limit, span }) => refusals.add({ agent: name, limit, span }),
    exchanged: (outcome) => exchanges.add({ outcome: outcome as 'issued' }),
  };
}
