import { z } from 'zod';
import { type AgentState, agentStateSchema } from '#contracts/agent-state';
import { digestOf } from '#contracts/canonical';
import { isSdkBundle, type VersionBundle } from './agent-bundle.ts';
import type { AgentObservation, CardCheck } from './ports.ts';
import { readImage } from './read-image.ts';
import { readProcessJson } from './read-process.ts';

const cardSchema = z.looseObject({ supportedInterfaces: z.array(z.looseObject({ url: z.string() })).min(1) });

/**
 * The state of a process, and whether its card is verified. A ready process of another version and an answer of another
 * form have no state. The answer of a process is parsed strictly, so that a digest of it never throws.
 * @param before the last observation: a card is read once for each digest
 */
export async function readAgent(
  at: { readonly traffic: string; readonly admin: string },
  bundle: VersionBundle,
  before: Pick<AgentObservation, 'state' | 'card'>,
  signal: AbortSignal,
): Promise<{ readonly state: AgentState; readonly card: CardCheck } | undefined> {
  if (isSdkBundle(bundle)) return await readImage(at.traffic, bundle, before, signal);
  const read = agentStateSchema.safeParse(await readProcessJson(`${at.admin}/state`, signal));
  if (!read.success) return undefined;
  const state = read.data;
  const isOurs = state.versionId === bundle.versionId && state.digest === bundle.digest;
  if (state.ready && !isOurs) return undefined;
  const { cardDigest } = state;
  if (cardDigest === undefined) return { state, card: 'none' };
  if (before.card === 'verified' && before.state?.cardDigest === cardDigest) return { state, card: 'verified' };
  const card = await readProcessJson(`${at.traffic}/.well-known/agent-card.json`, signal);
  return { state, card: card === undefined ? 'unread' : checkCard(card, cardDigest, bundle.publicUrl) };
}

function checkCard(card: unknown, digest: string, publicUrl: string): CardCheck {
  const read = cardSchema.safeParse(card);
  if (!read.success || digestOf(card) !== digest) return 'differs';
  const isInside = ({ url }: { readonly url: string }): boolean => url === publicUrl || url.startsWith(`${publicUrl}/`);
  return read.data.supportedInterfaces.every(isInside) ? 'verified' : 'differs';
}
