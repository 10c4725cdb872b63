import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import { openTokenFile } from '#kit/http/token-file';
import { createClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { waitAgentReady } from '../agents/wait-agent-ready.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { checkout } from '../platform/data-directory.ts';

/** The AgentVersion of examples/agents/assistant. */
const exampleAgent = 'assistant-1';
const fileName = 'assistant.yaml';
const waitSeconds = 30;

/**
 * Copies the example of an agent to the watched folder, once: a user may change or delete it.
 * @returns whether it was copied now
 */
export async function copyExampleAgent(data: DataDirectory): Promise<boolean> {
  if (existsSync(data.exampleAgent)) return false;
  const text = readFileSync(join(checkout, 'examples/agents/assistant/agentversion.yaml'));
  await writeAtomic(join(data.apply, fileName), text);
  await writeAtomic(data.exampleAgent, Buffer.from(`${new Date().toISOString()}\n`));
  return true;
}

/**
 * Waits until the example of an agent is ready. The platform runs without it: a reason is printed.
 * @param api URL of the resource server
 * @returns whether it can be called
 */
export async function awaitExampleAgent(
  data: DataDirectory,
  api: string,
  say: (sentence: string) => void,
): Promise<boolean> {
  await using client = createClient({ url: api, tokenFile: openTokenFile(data.apiToken), namespace: 'default' });
  const begun = performance.now();
  try {
    const found = await client.get<AgentVersion>(kinds.agentVersion, exampleAgent);
    if (found === undefined) return false;
    await waitAgentReady(client, found, waitSeconds);
    say(`the agent ${exampleAgent} is ready (${((performance.now() - begun) / 1_000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    if (!isKubeError(error) && !(error instanceof CliError)) throw error;
    say(`the example of an agent cannot be called yet: ${describeError(error).message}`);
    return false;
  }
}
