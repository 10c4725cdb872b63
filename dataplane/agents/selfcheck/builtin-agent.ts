import { agentBundleDigest } from '#contracts/agent-bundle';
import { digestOf } from '#contracts/canonical';
import { type LoadedAgent, loadAgent } from '../bundle/load-agent.ts';

const textObject = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 64 } },
  required: ['text'],
  additionalProperties: false,
};

const given = `\${${'input.text'}}`;

/** A flow that repeats its text. It calls no other service, so that its runs confirm this program only. */
const flow = {
  apiVersion: 'platform.low-code.flow/v2',
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8057', name: 'selfcheck', version: 1 },
  input: { schema: textObject },
  output: { schema: textObject },
  entrypoints: { main: 'start' },
  nodes: [
    { id: 'start', kind: 'input' },
    { id: 'end', kind: 'output', inputs: { text: given, data: { text: given } } },
  ],
  edges: [{ from: 'start', to: 'end' }],
};

const modes = ['text/plain', 'application/json'];
const manifest = {
  apiVersion: 'platform.low-code.publish-manifest/v2',
  agent: { name: 'selfcheck', title: 'Check at the start', description: 'Confirms the modes of this program.' },
  flow: { sha256: digestOf(flow), entrypoint: 'main' },
  executionModes: ['a2a_agent', 'mcp_tool'],
  contract: {
    inputSchema: textObject,
    outputSchema: textObject,
    inputMediaModes: modes,
    outputMediaModes: modes,
    capabilities: { streaming: true },
  },
  a2a: { skills: [{ id: 'repeat', name: 'Repeat', description: 'Repeats a text.', tags: ['check'] }] },
  mcp: { toolName: 'repeat', title: 'Repeat', description: 'Repeats a text.' },
  guardrails: { input: 'None', output: 'None' },
};

/** The agent that the startup check runs. The check never runs the agent of an author. */
export function loadBuiltinAgent(): LoadedAgent {
  const bundle = {
    formatVersion: 1,
    agentId: '01890a5d-ac96-774b-bcce-b302099a8058',
    versionId: '01890a5d-ac96-774b-bcce-b302099a8059',
    flow: JSON.stringify(flow),
    manifest: JSON.stringify(manifest),
    requires: [],
    limits: { requestBytes: 16_384, timeoutMs: 10_000, concurrency: 4 },
    guardrails: { input: 'None', output: 'None' },
    publicUrl: 'http://127.0.0.1/selfcheck',
  } as const;
  const whole = { ...bundle, requires: [], digest: agentBundleDigest({ ...bundle, requires: [] }) };
  const load = loadAgent(Buffer.from(JSON.stringify(whole)));
  if (!load.ok)
    throw new Error(`the built-in agent is refused: ${load.problems.map(({ message }) => message).join('; ')}`);
  return load.agent;
}
