import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readGatewayKeys } from '#identity/gateway-keys';
import { rotateGatewayKeys } from '#identity/testing/rotate-gateway-keys';
import { writeAtomic } from '#kit/files/write-atomic';
import { until } from '#kit/testing/until';
import { missingPostgres } from '#sql/testing/test-server';
import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { messageOf } from '../../dataplane/agents/testing/start-agent.ts';
import { alias } from '../support/start-guarded-gateway.ts';
import { type AgentGateway, startAgentGateway } from './start-agent-gateway.ts';

/**
 * After it has loaded the keys, an agent requests an unknown key 30 s later at the earliest (docs/call-an-agent.md).
 */
const publishedMs = 33_000;

describe.skipIf(missingPostgres !== undefined)('a rotation of the signing keys of the gateway', () => {
  let world: AgentGateway;
  const bundle = agentBundle({
    flow: questionFlow(alias),
    bundle: { requires: [{ kind: 'model', name: alias }] },
  });
  const { agentId, versionId } = bundle;
  beforeAll(async () => {
    // The callers send without a pause.
    world = await startAgentGateway({ PORTCULLIS_AGENT_RUNS_PER_MINUTE: '1000000' });
    const { process: _, ...version } = await world.startVersion(bundle, 'fetched');
    await world.serve({ name: 'question', agentId, served: versionId, versions: [version] });
    await world.allow('ann', 'invoke', agentId);
    world.platform.upstream.play({ kind: 'answer', content: 'a healthy answer' });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const body = messageOf({ text: 'hello' });

  /**
   * Calls the agent, which calls a model with a token of the exchange. @returns the fault; undefined if the call has
   * its answer
   */
  async function faultOf(operation: string): Promise<string | undefined> {
    const answer = await world.call(`${agentId}/message:${operation}`, { as: 'ann', body });
    const text = await answer.text();
    return answer.status === 200 && text.includes('a healthy answer') ? undefined : `${answer.status} ${text}`;
  }

  /** The key that signs the card now. */
  async function signingKid(): Promise<string> {
    const answer = await world.call(`${agentId}/.well-known/agent-card.json`, { as: 'ann', method: 'GET' });
    const { signatures } = (await answer.json()) as { readonly signatures: readonly { readonly protected: string }[] };
    return JSON.parse(Buffer.from(signatures[0]?.protected ?? '', 'base64url').toString()).kid;
  }

  test('no call fails during a rotation of the signing key, and the agent process is not restarted', async () => {
    const [old] = await readGatewayKeys(world.signingKeysFile);
    expect([await faultOf('send'), await signingKid()]).toEqual([undefined, old.kid]);
    const faults: string[] = [];
    let [answered, isOver] = [0, false];
    const callers = ['send', 'stream', 'send'].map(async (operation) => {
      while (!isOver) {
        const fault = await faultOf(operation);
        if (fault !== undefined) faults.push(fault);
        answered += 1;
      }
    });
    const moreCalls = async () => {
      const before = answered;
      await until('calls were answered', () => answered >= before + 20);
    };
    rotateGatewayKeys(world.signingKeysFile, new Date(Date.now() + publishedMs));
    const [next] = await readGatewayKeys(world.signingKeysFile);
    await until('the new key signs', async () => (await signingKid()) === next.kid);
    await moreCalls();
    const { keys } = JSON.parse(readFileSync(world.signingKeysFile, 'utf8'));
    await writeAtomic(world.signingKeysFile, JSON.stringify({ keys: keys.slice(0, 1) }), { mode: 0o600 });
    await until('the old key is removed', async () => {
      const set = (await (await fetch(`${world.url}/.well-known/jwks.json`)).json()) as { readonly keys: unknown[] };
      return set.keys.length === 1;
    });
    await moreCalls();
    isOver = true;
    await Promise.all(callers);
    expect(faults).toEqual([]);
  });
});
