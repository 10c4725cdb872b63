import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentBundle, textFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';
import { deniedTerm } from '../support/sample-policy.ts';
import { openGatewayProxy } from './gateway-proxy.ts';
import { type AgentProcess, startAgentProcess } from './start-agent-process.ts';

type Part = { readonly content: { readonly value: unknown } };
type Payload =
  | { readonly $case: 'artifactUpdate'; readonly value: { readonly artifact: { readonly parts: readonly Part[] } } }
  | { readonly $case: 'statusUpdate'; readonly value: { readonly status: { readonly state: number } } }
  | { readonly $case: 'task'; readonly value: { readonly id: string } };
type A2aClient = {
  readonly sendMessageStream: (request: object) => AsyncGenerator<{ readonly payload?: Payload }>;
  readonly getTask: (
    request: object,
  ) => Promise<{ readonly artifacts: readonly { readonly parts: readonly Part[] }[] }>;
};
type A2aModule = {
  readonly ClientFactory: new (options: unknown) => { createFromUrl(url: string): Promise<A2aClient> };
  readonly ClientFactoryOptions: { readonly default: unknown; createFrom(base: unknown, own: unknown): unknown };
  readonly RestTransportFactory: new (options?: unknown) => unknown;
};

const states = { completed: 3, failed: 4 } as const;
let world: AgentProcess;
let proxy: Awaited<ReturnType<typeof openGatewayProxy>>;
beforeAll(async () => {
  proxy = await openGatewayProxy();
  world = await startAgentProcess((model, policy) =>
    agentBundle({
      flow: textFlow(model),
      bundle: {
        requires: [{ kind: 'model', name: model }],
        publicUrl: proxy.publicUrl,
        guardrails: { input: 'None', output: policy },
      },
    }),
  );
  proxy.connect(world.gatewayFetch);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
});

test('the A2A client reads a complete text that the model gateway and the agent judged in windows, and no part of a denied phrase', async (context) => {
  const sdk = await prepareNpmPackage('@a2a-js/sdk', '1.3.0');
  if (!sdk.ok) return context.skip(sdk.reason);
  const loaded: unknown = await import(/* @vite-ignore */ pathToFileURL(join(sdk.folder, 'dist/client/index.js')).href);
  const { ClientFactory, ClientFactoryOptions, RestTransportFactory } = loaded as A2aModule;
  const own = { transports: [new RestTransportFactory()], preferredTransports: ['HTTP+JSON'] };
  const client = await new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, own),
  ).createFromUrl(`${proxy.publicUrl}/`);
  const ask = async (content: string) => {
    world.platform.upstream.play({ kind: 'answer', content, frameLength: 11 });
    const part = { content: { $case: 'text', value: 'hello' }, mediaType: 'text/plain', filename: '', metadata: {} };
    const message = {
      messageId: 'm-1',
      role: 1,
      parts: [part],
      contextId: '',
      taskId: '',
      extensions: [],
      referenceTaskIds: [],
      metadata: {},
    };
    const payloads: Payload[] = [];
    for await (const { payload } of client.sendMessageStream({
      tenant: '',
      message,
      configuration: undefined,
      metadata: {},
    }))
      if (payload !== undefined) payloads.push(payload);
    const texts = payloads.flatMap((one) => (one.$case === 'artifactUpdate' ? one.value.artifact.parts : []));
    const last = payloads.at(-1);
    const id = payloads.flatMap((one) => (one.$case === 'task' ? [one.value.id] : []))[0] ?? '';
    return {
      texts: texts.map(({ content: text }) => String(text.value)),
      state: last?.$case === 'statusUpdate' ? last.value.status.state : undefined,
      task: await client.getTask({ tenant: '', id }),
    };
  };
  const long = 'A plain sentence of a long answer. '.repeat(200);
  const whole = await ask(long);
  expect([whole.texts.join(''), whole.state]).toEqual([long, states.completed]);
  expect(whole.texts.length).toBeGreaterThan(3);
  expect(whole.task.artifacts[0]?.parts.map(({ content }) => content.value)).toEqual([long]);
  const denied = await ask(`${long}${deniedTerm} and more`);
  expect(denied.state).toBe(states.failed);
  expect(long).toContain(denied.texts.join(''));
  expect(denied.texts.length).toBeGreaterThan(1);
  expect(denied.task.artifacts).toEqual([]);
});
