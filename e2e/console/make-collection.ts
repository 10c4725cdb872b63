import { type Collection, collectionSchema } from '#contracts/retrieval';
import type { Platform } from '../support/start-platform.ts';

/** A collection of the administrator of the platform. */
export async function makeCollection(
  platform: Platform,
  collection: { readonly name: string; readonly description: string; readonly visibility?: 'public' },
): Promise<Collection> {
  const administrator = platform.status().administrators?.[0]?.split('|')[1] ?? '';
  const response = await fetch(`${platform.status().addresses.retrieval}/v1/collections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default', 'x-user-id': administrator },
    body: JSON.stringify({ ...collection, embedding_profile_id: 'offline' }),
  });
  if (response.status !== 201) throw new Error(`the collection was not created: ${await response.text()}`);
  return collectionSchema.parse(await response.json());
}
