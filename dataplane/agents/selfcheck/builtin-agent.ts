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

/** A flow that returns its input text. It calls no other service, so that its runs check only this program. */
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

const fileObject = {
  type: 'object',
  properties: { file: { type: 'object', properties: { fileId: { type: 'string' } }, required: ['fileId'] } },
  required: ['file'],
};
const fileId = `\${${'input.file.fileId'}}`;
/** A flow that reads a file as text and as a temporary copy, and returns its text. */
const fileFlow = {
  ...flow,
  input: { schema: fileObject },
  nodes: [
    { id: 'start', kind: 'input' },
    { id: 'text', kind: 'file', inputs: { fileId }, config: { use: 'text' } },
    { id: 'object', kind: 'file', inputs: { fileId }, config: { use: 'provider' } },
    {
      id: 'end',
      kind: 'output',
      inputs: {
        text: `\${${'nodes.text.output.text'}}`,
        data: { text: `\${${'nodes.text.output.text'}}` },
      },
    },
  ],
  edges: [
    { from: 'start', to: 'text' },
    { from: 'text', to: 'object' },
    { from: 'object', to: 'end' },
  ],
};

const modes = ['text/plain', 'application/json'];
const manifestOf = (flow: object, inputSchema: object, files: object) => ({
  apiVersion: 'platform.low-code.publish-manifest/v2',
  agent: {
    name: 'selfcheck',
    title: 'Check at the start',
    description: 'Confirms at the start that this process receives and sends each media type.',
  },
  flow: { sha256: digestOf(flow), entrypoint: 'main' },
  executionModes: ['a2a_agent', 'mcp_tool'],
  contract: {
    inputSchema,
    outputSchema: textObject,
    inputMediaModes: inputSchema === textObject ? modes : ['application/json'],
    outputMediaModes: modes,
    capabilities: { streaming: true },
  },
  a2a: { skills: [{ id: 'repeat', name: 'Repeat', description: 'Repeats a text.', tags: ['check'] }] },
  mcp: { toolName: 'repeat', title: 'Repeat', description: 'Repeats a text.' },
  guardrails: { input: 'None', output: 'None' },
  files,
});

/** The agent that the startup check runs. The check never runs the agent of an author. */
export function loadBuiltinAgent(): LoadedAgent {
  return load(flow, manifestOf(flow, textObject, { enabled: false }));
}

/** The agent with which the startup check confirms files. */
export function loadBuiltinFileAgent(): LoadedAgent {
  return load(
    fileFlow,
    manifestOf(fileFlow, fileObject, { enabled: true, mediaTypes: ['text/plain'], maxBytes: 1_024 }),
  );
}

function load(flow: object, manifest: object): LoadedAgent {
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
  const loaded = loadAgent(Buffer.from(JSON.stringify(whole)));
  if (!loaded.ok)
    throw new Error(`the built-in agent is refused: ${loaded.problems.map(({ message }) => message).join('; ')}`);
  return loaded.agent;
}
