import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { loadFlow } from '#flow/loader/load-flow';
import { until } from '#kit/testing/until';
import type { Agent } from '#resources/agent';
import { apiVersion, kinds } from '#resources/kinds';
import { makeVersion } from '../../cli/flows/make-version.ts';
import type { Platform } from '../support/start-platform.ts';

const example = (file: string): string =>
  readFileSync(new URL(`../../examples/agents/assistant/${file}`, import.meta.url), 'utf8');
const mostOfName = 120;
const skills = 48;

/** An agent whose card, flow and prompt are made of the texts. @returns its id, once the gateway serves it */
export async function addHostileAgent(
  platform: Platform,
  texts: readonly string[],
): Promise<{ readonly id: string; readonly path: string; readonly flowPath: string }> {
  // A text of YAML has no U+0000.
  const clean = texts.map((text) => text.replaceAll('\u0000', ''));
  const at = (index: number): string => clean[index % clean.length] ?? '';
  const source = parse(example('flow.yaml'));
  source.metadata.title = at(0).slice(0, mostOfName);
  source.metadata.description = at(1);
  const [, prompt] = source.nodes;
  prompt.config.messages[0].content = clean.join(' ').replaceAll('{{', '{ {');
  const manifest = parse(example('manifest.yaml'));
  manifest.agent = { name: 'hostile', title: at(2).slice(0, mostOfName), description: clean.join(' ').slice(0, 2_000) };
  manifest.a2a.skills = Array.from({ length: skills }, (_, index) => ({
    id: `skill-${index}`,
    name: at(index * 4).slice(0, mostOfName),
    description: at(index * 4 + 1),
    tags: [at(index * 4 + 2).slice(0, mostOfName), at(index * 4 + 3).slice(0, mostOfName)],
  }));
  const flow = stringify(source);
  const load = loadFlow(flow);
  if (!load.ok) throw new Error(`the flow is invalid: ${JSON.stringify(load.problems)}`);
  const made = makeVersion(
    load.flow,
    { flow, manifest: stringify(manifest), tests: example('tests.yaml'), subflows: [] },
    'hostile-1',
  );
  if (!made.ok) throw new Error(`the version is invalid: ${JSON.stringify(made.problems)}`);
  await platform.client.create(kinds.agentVersion, made.version);
  const spec: Agent['spec'] = {
    version: 'hostile-1',
    owner: { issuer: 'development:default', subject: 'ann' },
    workspace: 'hostile',
    access: { view: [{ kind: 'AuthenticatedAll' }], invoke: [{ kind: 'AuthenticatedAll' }] },
  };
  await platform.client.create(kinds.agent, {
    apiVersion,
    kind: kinds.agent.kind,
    metadata: { name: 'hostile' },
    spec,
  });
  return await until('the hostile agent is served', async () => {
    const { status } = (await platform.client.get<Agent>(kinds.agent, 'hostile')) ?? {};
    const { agentId: id, served } = status ?? {};
    if (id === undefined || served === undefined) return undefined;
    return { id, path: `/agents/${id}`, flowPath: `/agents/${id}/versions/${served.versionId}/flow` };
  });
}
