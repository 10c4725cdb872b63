import { until } from '#kit/testing/until';
import { type AgentsPlace, describeAgents } from '../../testing/agents-suite.ts';
import { openAgentCluster } from './testing/agent-cluster.ts';

async function openClusterPlace(): Promise<AgentsPlace> {
  const cluster = await openAgentCluster();
  return {
    get agents() {
      return cluster.agents;
    },
    async start(name) {
      await until('its Deployment exists', () => cluster.server.object('deployments', name));
      await cluster.runPod(name);
    },
    fail: async (name) => cluster.failPod(name),
    async succeed() {
      await cluster.upgrade('portcullis:2');
      return cluster.agents;
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

describeAgents('a cluster', openClusterPlace);
