import { type Collection, collectionSchema } from '#contracts/retrieval';
import type { Platform } from '../support/start-platform.ts';

/** A collection of the administrator of the platform. */
export async function makeCollection(
  platform: Platform,
  collection: { readonly name: string; readonly description: string; readonly visibility?: 'public' },
): Promise<Collection> {
  return collectionSchema.parse(await post(platform, '', { ...collection, embedding_profile_id: 'offline' }));
}

/** Gives a person the right to write into a collection of the administrator, or revokes it. */
export async function changeWriter(
  platform: Platform,
  collectionId: string,
  change: { readonly verb: 'grants' | 'grants:revoke'; readonly person: string },
): Promise<void> {
  await post(platform, `/${collectionId}/${change.verb}`, { relation: 'writer', user_id: change.person });
}

async function post(platform: Platform, path: string, body: unknown): Promise<unknown> {
  const administrator = platform.status().administrators?.[0]?.split('|')[1] ?? '';
  const response = await fetch(`${platform.status().addresses.retrieval}/v1/collections${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default', 'x-user-id': administrator },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} was refused: ${await response.text()}`);
  return response.json();
}
