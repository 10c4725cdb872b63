import { type AgentBundle, agentBundleDigest } from '#contracts/agent-bundle';
import { digestOf } from '#contracts/canonical';

type Json = Readonly<Record<string, unknown>>;

const ref = (path: string): string => `\${${path}}`;
const text = { type: 'string', maxLength: 100_000 };
const inputSchema = {
  type: 'object',
  properties: { question: text, limit: { type: 'integer' } },
  required: ['question'],
  additionalProperties: false,
};
const outputSchema = { type: 'object', properties: { answer: text }, required: ['answer'] };
const modes = ['text/plain', 'application/json'];

/** A flow that returns its question; with a model, it returns the answer of the model. */
export function questionFlow(model?: string): Json {
  const answer = ref(model === undefined ? 'input.question' : 'nodes.ask.output.text');
  const ask = {
    id: 'ask',
    kind: 'prompt',
    config: { model, messages: [{ role: 'user', content: '{{input.question}}' }], parameters: { maxTokens: 100 } },
  };
  const ids = ['start', ...(model === undefined ? [] : ['ask']), 'end'];
  return {
    apiVersion: 'platform.low-code.flow/v2',
    metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8060', name: 'question', version: 3 },
    input: { schema: inputSchema },
    output: { schema: outputSchema },
    entrypoints: { main: 'start' },
    nodes: [
      { id: 'start', kind: 'input' },
      ...(model === undefined ? [] : [ask]),
      { id: 'end', kind: 'output', inputs: { text: answer, data: { answer } } },
    ],
    edges: ids.slice(1).map((to, at) => ({ from: ids[at], to })),
  };
}

/** A flow whose result is only the text of a prompt that streams. */
export function textFlow(model: string, text: Json = { type: 'string' }): Json {
  const { nodes, ...flow } = questionFlow(model) as { readonly nodes: readonly Json[] };
  const [start, ask] = nodes;
  return {
    ...flow,
    output: { schema: { type: 'object', properties: { text }, required: ['text'] } },
    nodes: [
      start,
      { ...ask, config: { ...(ask?.['config'] as Json), stream: true } },
      { id: 'end', kind: 'output', inputs: { text: ref('nodes.ask.output.text') } },
    ],
  };
}

/** The media types of the parts that the outputs of a flow give. */
function outputModesOf(flow: Json): readonly string[] {
  const inputs = (flow['nodes'] as readonly Json[]).flatMap((node) =>
    node['kind'] === 'output' ? Object.keys(node['inputs'] as Json) : [],
  );
  return [
    ...(inputs.includes('text') ? ['text/plain'] : []),
    ...(inputs.includes('data') ? ['application/json'] : []),
    ...(inputs.length === 0 ? modes : []),
  ];
}

export type BundleParts = {
  readonly flow?: Json;
  /** Members of the manifest that replace the default members. */
  readonly manifest?: Json;
  /** Members of the contract that replace the default members. */
  readonly contract?: Json;
  readonly bundle?: Partial<AgentBundle>;
};

/** A version whose flow returns its question, in both modes and with streaming, unless the parts say otherwise. */
export function agentBundle({ flow = questionFlow(), manifest, contract, bundle }: BundleParts = {}): AgentBundle {
  const guardrails = bundle?.guardrails ?? { input: 'None', output: 'None' };
  const named = (one: AgentBundle['guardrails']['input']) =>
    one === 'None' ? one : { policy: one.name, revision: one.revision };
  const schemas = flow as { readonly input: { schema: Json }; readonly output: { schema: Json } };
  const requires = bundle?.requires ?? [];
  const own = {
    formatVersion: 1,
    agentId: '01890a5d-ac96-774b-bcce-b302099a8061',
    versionId: '01890a5d-ac96-774b-bcce-b302099a8062',
    flow: JSON.stringify(flow),
    manifest: JSON.stringify({
      apiVersion: 'platform.low-code.publish-manifest/v2',
      agent: { name: 'question', title: 'Question', description: 'Answers a question.' },
      flow: { sha256: digestOf(flow), entrypoint: 'main' },
      executionModes: ['a2a_agent', 'mcp_tool'],
      contract: {
        inputSchema: schemas.input.schema,
        outputSchema: schemas.output.schema,
        inputMediaModes: modes,
        outputMediaModes: outputModesOf(flow),
        capabilities: { streaming: true },
        ...contract,
      },
      a2a: { skills: [{ id: 'answer', name: 'Answer', description: 'Answers a question.', tags: ['test'] }] },
      mcp: { toolName: 'answer_question', title: 'Answer a question', description: 'Answers a question.' },
      guardrails: { input: named(guardrails.input), output: named(guardrails.output) },
      requires,
      ...manifest,
    }),
    requires,
    limits: { requestBytes: 16_384, timeoutMs: 20_000, concurrency: 4 },
    guardrails,
    publicUrl: 'https://agents.example/agents/question/versions/3',
    ...bundle,
  } as const;
  return { ...own, digest: bundle?.digest ?? agentBundleDigest(own) };
}
