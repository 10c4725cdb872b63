import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { judgedTextKinds } from '#contracts/judged-texts';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { root } from '../../hack/check/run-tool.ts';
import { playAgent, turns } from '../scenarios/openai-clients/ten-turns/scripted-agent.ts';
import type { Figure } from '../support/figure.ts';
import { prepareNodePackages } from '../support/node-packages.ts';
import { preparePython } from '../support/python.ts';
import { deniedTerm } from '../support/sample-policy.ts';
import { alias, startGuardedGateway } from '../support/start-guarded-gateway.ts';

const run = promisify(execFile);
const scripts = join(root, 'e2e/scenarios/openai-clients/ten-turns');
const done = `done after ${turns} calls`;
const vector = [0.5, -0.25, 1];

/** The answer that each client must get. A client has no member where it does not offer the operation. */
const expected: Readonly<Record<string, unknown>> = {
  whole: done,
  streamed: done,
  responses: done,
  responsesStreamed: done,
  structured: 'Oslo',
  embedding: [vector, vector],
  refused: 'guardrail_blocked',
};

const clients = [
  { name: 'openai (npm)', file: 'openai.mjs' },
  { name: '@openai/agents (npm)', file: 'agents.mjs' },
  { name: 'LangChain (npm)', file: 'langchain.mjs' },
  { name: 'AI SDK (npm)', file: 'vercel-ai.mjs' },
  { name: 'openai (PyPI)', file: 'openai_client.py' },
  { name: 'openai-agents (PyPI)', file: 'agents_client.py' },
  { name: 'LlamaIndex (PyPI)', file: 'llamaindex_client.py' },
] as const;

/**
 * The routes through which every client is tested: one judges the texts of the contract, the other every text, and
 * refuses any other text.
 */
const routes = [
  { name: 'contract', more: {} },
  { name: 'judge all', more: { judge: [...judgedTextKinds], unjudged: 'Refuse' } },
] as const satisfies readonly { readonly name: string; readonly more: Partial<GatewayRouteSpec> }[];

/** LlamaIndex needs a different version of the package openai than the other clients. */
const requirements = { others: 'requirements.txt', llamaIndex: 'llamaindex-requirements.txt' } as const;

export const figure: Figure = {
  name: 'clients',
  title: `clients and SDKs through a guarded alias, also with every text judged: ${turns} calls of a tool, streams, structured output, embeddings, responses, a refusal`,
  coveredBy: 'e2e/scenarios/openai-clients/official-clients.test.ts',
  run: async (_, say) => {
    const packages = await prepareNodePackages(join(scripts, 'packages.json'));
    if (!packages.ok) return { skipped: packages.reason };
    const python = await preparePython(join(scripts, requirements.others));
    if (!python.ok) return { skipped: python.reason };
    const llamaIndex = await preparePython(join(scripts, requirements.llamaIndex));
    if (!llamaIndex.ok) return { skipped: llamaIndex.reason };
    const faults: string[] = [];
    let operations = 0;
    for (const route of routes) {
      await using world = await startGuardedGateway({ change: (spec) => ({ ...spec, ...route.more }) });
      world.upstream.play(playAgent);
      for (const { name, file } of clients) {
        const isNode = file.endsWith('.mjs');
        if (isNode) copyFileSync(join(scripts, file), join(packages.folder, file));
        const pythonPath = file.startsWith('llamaindex') ? llamaIndex.path : python.path;
        const program = isNode ? process.execPath : pythonPath;
        const script = join(isNode ? packages.folder : scripts, file);
        const client = `${name}, ${route.name}`;
        try {
          const { stdout } = await run(program, [script, `${world.url}/v1`, world.key, alias, `about ${deniedTerm}`], {
            env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' },
          });
          const told = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>;
          const wrong = Object.keys(told).filter((key) => JSON.stringify(told[key]) !== JSON.stringify(expected[key]));
          operations += Object.keys(told).length;
          faults.push(...wrong.map((key) => `${client}, ${key}: ${JSON.stringify(told[key])}`));
          say(`${client}: ${Object.keys(told).join(', ')}`);
        } catch (error) {
          faults.push(`${client}: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
    }
    for (const fault of faults) say(fault);
    const line = `${operations} operations of ${clients.length} clients through ${routes.length} guarded routes: ${faults.length} faults`;
    return { holds: faults.length === 0, line };
  },
};
