import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { AgentTemplate } from '../../operator/environment/agent-template.ts';
import { type ClusterEnvironment, readClusterEnvironment } from '../../operator/environment/read-environment-files.ts';
import { ofKind, type Rendered } from './tools/render-chart.ts';

/** The rendered ConfigMap, parsed by the operator's own code. */
export async function environmentOf(objects: readonly Rendered[]): Promise<ClusterEnvironment> {
  const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-environment'));
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries(map?.['data'] as Record<string, string>)) {
    writeFileSync(join(folder.path, name), text);
  }
  const file = (name: string): string => join(folder.path, name);
  return await readClusterEnvironment({
    providers: file('providers.yaml'),
    limits: file('limits.yaml'),
    connections: file('connections.yaml'),
    served: file('served-policies.yaml'),
    template: file('workload.yaml'),
    agents: file('agents.yaml'),
  });
}

/** The pod template of agents of a chart that runs them. */
export async function agentTemplateOf(objects: readonly Rendered[]): Promise<AgentTemplate> {
  const { agents } = await environmentOf(objects);
  if (agents === undefined) throw new Error('the chart does not run agents');
  return agents;
}
