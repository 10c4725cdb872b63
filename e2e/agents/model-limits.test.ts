import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { SeenRequest } from '#kit/testing/scripted-http';
import { newFlowFiles } from '../../cli/flows/new-flow.ts';
import { agentBundle } from '../../dataplane/agents/testing/agent-bundle.ts';
import { messageOf, startAgent } from '../../dataplane/agents/testing/start-agent.ts';
import { type ScriptedUpstream, startScriptedUpstream, type UpstreamScript } from '../support/scripted-upstream.ts';

/** Maximum number of tokens of an answer of the pretended model, as of gpt-4o. */
const mostTokens = 16_384;
let gateway: ScriptedUpstream;
beforeAll(async () => {
  gateway = await startScriptedUpstream({ kind: 'silence' });
  gateway.play(answerLikeOpenAi);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/**
 * Refuses the requests that models of OpenAI refuse: a limit above the limit of the model, the older name of the
 * member, and the strict mode for a schema with an object that is not closed.
 */
function answerLikeOpenAi({ text }: SeenRequest): UpstreamScript {
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const asked = Number(body['max_completion_tokens'] ?? 1);
  if (Object.hasOwn(body, 'max_tokens')) return refusal('unsupported_parameter');
  if (asked < 1 || asked > mostTokens) return refusal('invalid_value');
  const format = body['response_format'] as { readonly json_schema: { strict: boolean; schema: object } } | undefined;
  if (format === undefined) return { kind: 'answer', content: 'Paris.' };
  const { strict, schema } = format.json_schema;
  if (strict && !Object.hasOwn(schema, 'additionalProperties')) return refusal('invalid_json_schema');
  return { kind: 'answer', content: '{"city":"Paris"}' };
}

function refusal(code: string): UpstreamScript {
  return { kind: 'status', status: 400, body: JSON.stringify({ error: { type: 'invalid_request_error', code } }) };
}

/** Returns the answer of a served version to one question. */
async function askVersion(flow: Readonly<Record<string, unknown>>) {
  await using agent = await startAgent({
    bundle: agentBundle({ flow, bundle: { requires: [{ kind: 'model', name: 'guarded-echo' }] } }),
    services: { modelGateway: new URL(gateway.url) },
    modelGatewayToken: 'client-key',
  });
  return await agent.call('POST', '/message:send', messageOf({ text: 'What is the capital of France?' }));
}

/** The flow of `portcullis flow init`, with additional members in the config of its prompt. */
function newFlow(config: object = {}): Readonly<Record<string, unknown>> {
  const files = newFlowFiles('first', '01890a5d-ac96-774b-bcce-b302099a8079');
  const flow = parse(files['flow.yaml'] ?? '') as { nodes: { kind: string; config?: object }[] };
  const nodes = flow.nodes.map((node) =>
    node.kind === 'prompt' ? { ...node, config: { ...node.config, ...config } } : node,
  );
  return { ...flow, nodes };
}

test('a model that refuses limits above its own answers the served flow of `flow init`', async () => {
  const answer = await askVersion(newFlow());
  expect(answer.json).toMatchObject({ message: { parts: [{ text: 'Paris.' }, { data: { answer: 'Paris.' } }] } });
});

test('a limit of the author is sent under the name that newer models accept, and a model may refuse it', async () => {
  const accepted = await askVersion(newFlow({ parameters: { maxTokens: mostTokens } }));
  expect(accepted.status).toBe(200);
  expect(JSON.parse(gateway.seen.at(-1)?.text ?? '')).toMatchObject({ max_completion_tokens: mostTokens });
  const refused = await askVersion(newFlow({ parameters: { maxTokens: mostTokens + 1 } }));
  expect(refused.status).not.toBe(200);
});

test('the strict mode is requested only with a schema that supports it', async () => {
  const open = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  for (const [responseSchema, strict] of [
    [open, false],
    [{ ...open, additionalProperties: false }, true],
  ] as const) {
    const answer = await askVersion(newFlow({ responseSchema }));
    expect(answer.json).toMatchObject({ message: { parts: [{ text: '{"city":"Paris"}' }, {}] } });
    expect(JSON.parse(gateway.seen.at(-1)?.text ?? '')).toMatchObject({ response_format: { json_schema: { strict } } });
  }
});
