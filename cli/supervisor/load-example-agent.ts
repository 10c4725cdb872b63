import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import { openTokenFile } from '#kit/http/token-file';
import { createClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import { waitAgentServed } from '../agents/wait-agent-served.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { checkout } from '../platform/data-directory.ts';

/** A folder in examples/agents, and the marker file of its copy. */
type ExampleAgent = { readonly name: string; readonly mark: 'exampleAgent' | 'exampleHandbookAgent' };

const assistant: ExampleAgent = { name: 'assistant', mark: 'exampleAgent' };
/** Answers out of the example collection, so that it needs the retrieval service. */
const handbook: ExampleAgent = { name: 'handbook', mark: 'exampleHandbookAgent' };
const waitSeconds = 30;

/** The examples that a platform can run. */
export function exampleAgents({ retrieval }: { readonly retrieval: boolean }): readonly ExampleAgent[] {
  return retrieval ? [assistant, handbook] : [assistant];
}

/**
 * Copies the version and the Agent of each example to the watched folder, once: a user may change or delete them.
 * @returns the names of those that were copied now
 */
export async function copyExampleAgents(
  data: DataDirectory,
  examples: readonly ExampleAgent[],
): Promise<readonly string[]> {
  const absent = examples.filter(({ mark }) => !existsSync(data[mark]));
  for (const { name, mark } of absent) {
    const folder = join(checkout, 'examples/agents', name);
    const texts = ['agentversion.yaml', 'agent.yaml'].map((file) => readFileSync(join(folder, file), 'utf8'));
    await writeAtomic(join(data.apply, `${name}.yaml`), Buffer.from(texts.join('---\n')));
    await writeAtomic(data[mark], Buffer.from(`${new Date().toISOString()}\n`));
  }
  return absent.map(({ name }) => name);
}

/**
 * Waits until an example is served through the gateways. The platform runs without it: a reason is printed.
 * @param api URL of the resource server
 * @returns whether it can be called
 */
export async function awaitExampleAgent(
  data: DataDirectory,
  api: string,
  { name }: ExampleAgent,
  say: (sentence: string) => void,
): Promise<boolean> {
  await using client = createClient({ url: api, tokenFile: openTokenFile(data.apiToken), namespace: 'default' });
  const begun = performance.now();
  try {
    const found = await client.get<Agent>(kinds.agent, name);
    if (found === undefined) return false;
    await waitAgentServed(client, found, waitSeconds);
    say(`the agent ${name} is served (${((performance.now() - begun) / 1_000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    if (!isKubeError(error) && !(error instanceof CliError)) throw error;
    say(`the example of an agent cannot be called yet: ${describeError(error).message}`);
    return false;
  }
}
