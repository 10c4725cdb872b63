import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { childrenOf } from '#kit/testing/process-table';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { root } from '../../hack/check/run-tool.ts';
import { startTestOperator } from '../../operator/testing/start-test-operator.ts';
import { completionBody } from '../support/scripted-upstream.ts';

type AgentWorld = AsyncDisposable & {
  /** How often the model received each question. */
  readonly asked: ReadonlyMap<string, number>;
  /** Process id of the version; undefined while no process runs. */
  pid(): number | undefined;
  /** Origin of the version; undefined while it is not ready. */
  address(): Promise<string | undefined>;
  /** Waits until the version is ready. */
  ready(): Promise<string>;
};

/** A model answers each question after a random time up to this, milliseconds. */
export const slowestAnswerMs = 300;
const name = 'assistant-1';

/** A real operator, which runs the example of an agent as a process, and a model that records its questions. */
export async function openAgentWorld(): Promise<AgentWorld> {
  await using parts = new AsyncDisposableStack();
  const asked = new Map<string, number>();
  const model = parts.use(
    await startScriptedHttp(async (outgoing, { text }) => {
      const { messages } = JSON.parse(text) as { readonly messages: readonly { readonly content: string }[] };
      const question = messages.at(-1)?.content ?? '';
      asked.set(question, (asked.get(question) ?? 0) + 1);
      const ms = question.length === 0 ? 0 : (question.charCodeAt(question.length - 1) * 37) % slowestAnswerMs;
      await new Promise((resolve) => setTimeout(resolve, ms));
      outgoing.setHeader('content-type', 'application/json').end(completionBody(question));
    }),
  );
  const tokenFile = join(parts.use(temporaryFolder()).path, 'client.keys');
  writeFileSync(tokenFile, 'client-key\n');
  const agents = {
    publicUrl: new URL('http://127.0.0.1:9'),
    gateway: undefined,
    retrieval: undefined,
    memory: undefined,
    filesIssuer: undefined,
    traces: undefined,
    modelGateway: { url: new URL(model.url), tokenFile },
  };
  const operator = parts.use(await startTestOperator({ config: { agents } }));
  const example = readFileSync(join(root, 'examples/agents/assistant/agentversion.yaml'), 'utf8');
  const streaming = example.replace(/^( *)outputMediaModes:.*$/m, '$&\n$1capabilities: { streaming: true }');
  await operator.client.create<AgentVersion>(kinds.agentVersion, parse(streaming));
  const address = async (): Promise<string | undefined> => {
    const found: Stored<AgentVersion> | undefined = await operator.client.get(kinds.agentVersion, name);
    const isReady = found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return isReady === true ? found?.status?.address : undefined;
  };
  const owned = parts.move();
  return {
    asked,
    pid: () => childrenOf(process.pid, 'portcullis-agent')[0],
    address,
    ready: () => until('the version is ready', address),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
