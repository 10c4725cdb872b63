import { z } from 'zod';
import type { AgentState } from '#contracts/agent-state';
import { digestOf } from '#contracts/canonical';
import type { SdkBundle } from '#contracts/sdk-bundle';
import { publishedSdkCard, readSdkCard } from '#contracts/sdk-card';
import { imagePaths } from './image-paths.ts';
import type { AgentObservation, CardCheck } from './ports.ts';
import { answersWith200, readProcessJson } from './read-process.ts';

const toolsSchema = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })).max(1_024) });

type SeenImage = { readonly state: AgentState; readonly card: CardCheck };

/**
 * The state of the process of an image, which has no admin address: the process is ready when it reports that it is
 * ready and publishes the card that the resource states, or lists the tool. The process does not report runs; the
 * gateways report the calls.
 * @param traffic origin of the process
 * @returns undefined without an answer
 */
export async function readImage(
  traffic: string,
  bundle: SdkBundle,
  before: Pick<AgentObservation, 'state' | 'card'>,
  signal: AbortSignal,
): Promise<SeenImage | undefined> {
  const isReady = await answersWith200(`${traffic}${imagePaths.ready}`, signal);
  if (isReady === undefined) return undefined;
  if (!isReady) return { state: stateOf(bundle, { code: 'starting', message: 'is starting' }), card: before.card };
  if (bundle.tool !== undefined) return await readTool(traffic, bundle, bundle.tool, signal);
  const card = before.card === 'verified' ? 'verified' : await checkCard(traffic, bundle, signal);
  return { state: stateOf(bundle, undefined), card };
}

async function readTool(traffic: string, bundle: SdkBundle, tool: string, signal: AbortSignal): Promise<SeenImage> {
  const read = toolsSchema.safeParse(await readProcessJson(`${traffic}${imagePaths.tools}`, signal));
  const isListed = read.success && read.data.tools.some(({ name }) => name === tool);
  const message = `the process does not list the tool ${tool} at ${imagePaths.tools}`;
  const code = 'advertised_capability_unavailable';
  const problem = isListed ? undefined : ({ code, capability: 'mcp.tool', message } as const);
  return { state: stateOf(bundle, problem), card: 'none' };
}

async function checkCard(traffic: string, bundle: SdkBundle, signal: AbortSignal): Promise<CardCheck> {
  const value = await readProcessJson(`${traffic}${imagePaths.card}`, signal);
  if (value === undefined) return 'unread';
  const read = readSdkCard(value);
  if (!read.ok) return 'differs';
  return digestOf(publishedSdkCard(read.card, bundle.publicUrl)) === bundle.cardDigest ? 'verified' : 'differs';
}

function stateOf(
  { agentId, versionId, digest, image, cardDigest }: SdkBundle,
  problem: AgentState['problems'][number] | undefined,
): AgentState {
  return {
    agentId,
    versionId,
    digest,
    build: image,
    ready: problem === undefined,
    problems: problem === undefined ? [] : [problem],
    capabilities: {},
    ...(cardDigest === undefined ? {} : { cardDigest }),
    runs: 0,
  };
}
