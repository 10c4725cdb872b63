import { agentErrors } from '#contracts/agent-errors';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { callOperations } from '../identity/call-verifier.ts';
import type { ModelUsage } from '../ports/meter-model.ts';

export type AgentMetrics = {
  readonly registry: Metrics;
  /** @param code the error code; `none` for a success */
  requestEnded(operation: string, code: string, seconds: number): void;
  runEnded(code: string, seconds: number): void;
  tokensUsed(usage: ModelUsage): void;
  /** Sets the gauges before a scrape. */
  observe(state: { readonly isReady: boolean; readonly runs: number; readonly failingProviders: number }): void;
};

const seconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];

/** The metrics of an agent process. No label contains a text, a subject or an id. */
export function createAgentMetrics(): AgentMetrics {
  const registry = createMetrics({ service: 'agent' });
  const operations = ['health', 'card', 'unknown', ...callOperations];
  const codes = ['none', ...Object.keys(agentErrors)];
  const requests = registry.counter({
    name: 'portcullis_agent_requests_total',
    help: 'Ended requests by operation and error code.',
    labels: { operation: operations, code: codes },
  });
  const durations = registry.histogram({
    name: 'portcullis_agent_request_seconds',
    help: 'Duration of requests until the answer was sent, or its stream began.',
    labels: { operation: operations },
    buckets: seconds,
  });
  const runs = registry.counter({
    name: 'portcullis_agent_runs_total',
    help: 'Ended runs of the flow by error code.',
    labels: { code: codes },
  });
  const runDurations = registry.histogram({
    name: 'portcullis_agent_run_seconds',
    help: 'Duration of runs of the flow, with the check of the result.',
    labels: {},
    buckets: seconds,
  });
  const tokens = registry.counter({
    name: 'portcullis_agent_model_tokens_total',
    help: 'Tokens that models reported for calls of runs. Answers without usage are not counted.',
    labels: { direction: ['input', 'output'] },
  });
  const underWay = registry.gauge({
    name: 'portcullis_agent_runs',
    help: 'Runs under way.',
    labels: {},
  });
  const ready = registry.gauge({
    name: 'portcullis_agent_ready',
    help: '1 if the version is served, else 0.',
    labels: {},
  });
  const failing = registry.gauge({
    name: 'portcullis_agent_failing_check_providers',
    help: 'Rules of policies of the version whose detector or classifier does not judge.',
    labels: {},
  });
  return {
    registry,
    requestEnded(operation, code, took) {
      requests.add({ operation, code });
      durations.observe({ operation }, took);
    },
    runEnded(code, took) {
      runs.add({ code });
      runDurations.observe({}, took);
    },
    tokensUsed({ promptTokens, completionTokens }) {
      tokens.add({ direction: 'input' }, promptTokens);
      tokens.add({ direction: 'output' }, completionTokens);
    },
    observe({ isReady, runs: count, failingProviders }) {
      failing.set({}, failingProviders);
      ready.set({}, isReady ? 1 : 0);
      underWay.set({}, count);
    },
  };
}
