import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { startAgentGateway } from '../agent-gateway/start-agent-gateway.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { alias } from '../support/start-guarded-gateway.ts';
import { type ClientEnd, followRun } from './follow-run.ts';

type GatewayWorld = AsyncDisposable & {
  /** How often the model received each question. */
  asked(): ReadonlyMap<string, number>;
  /** Sends a question through the gateway. @returns how its run ended for the client */
  follow(question: string, way: 'send' | 'stream'): Promise<ClientEnd>;
  /** Kills the process of the version. */
  kill(): void;
  /** Starts the process of the version again, and waits until the gateway serves it. */
  restart(): Promise<void>;
};

const person = 'ann';

/**
 * A version of an agent that a person calls through the gateway process. Each check of a text takes a random time, so
 * that a run takes up to twice `slowestMs`.
 */
export async function openGatewayWorld(slowestMs: number, random: () => number): Promise<GatewayWorld> {
  await using parts = new AsyncDisposableStack();
  const many = { PORTCULLIS_AGENT_RUNS_PER_CALLER: '1000', PORTCULLIS_AGENT_RUNS_PER_MINUTE: '1000000' };
  const world = parts.use(await startAgentGateway(many));
  const { upstream, proxy } = world.platform;
  const bundle = agentBundle({
    flow: questionFlow(alias),
    bundle: {
      requires: [{ kind: 'model', name: alias }],
      limits: { requestBytes: 16_384, timeoutMs: 20_000, concurrency: 16 },
    },
  });
  const { agentId, versionId } = bundle;
  const questionOf = (text: string): string => {
    const { messages } = JSON.parse(text) as { readonly messages: readonly { readonly content: string }[] };
    return messages.at(-1)?.content ?? '';
  };
  upstream.play(({ text }) => ({
    kind: 'raw',
    body: completionBody(questionOf(text)),
    contentType: 'application/json',
  }));
  proxy.inject(() => ({ kind: 'delay', ms: random() * slowestMs }));
  await world.allow(person, 'invoke', agentId);
  let pid = 0;
  async function restart(): Promise<void> {
    const { process: started, ...version } = await world.startVersion(bundle);
    pid = started.pid;
    await world.serve({ name: 'killed', agentId, served: versionId, versions: [version] });
  }
  await restart();
  const owned = parts.move();
  return {
    asked: () =>
      new Map([...Map.groupBy(upstream.seen, ({ text }) => questionOf(text))].map(([one, all]) => [one, all.length])),
    async follow(question, way) {
      const authorization = `Bearer ${await world.personToken(person)}`;
      return await followRun(`${world.url}/agents/${agentId}`, question, way, { authorization });
    },
    kill: () => void process.kill(pid, 'SIGKILL'),
    restart,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
