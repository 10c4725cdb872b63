import { afterAll, beforeAll, describe } from 'vitest';
import type { KubeClient } from '../client/client.ts';
import { testApply } from './suite/apply-manifests.ts';
import { testCreate, testPatch, testStatus } from './suite/create-and-patch.ts';
import { testDelete, testOwners } from './suite/delete-and-owners.ts';
import { testList, testWatch } from './suite/list-and-watch.ts';

/** A server to judge. Names of other tests may be in it; each test uses names of its own. */
export type ResourceServer = AsyncDisposable & { readonly client: KubeClient };

/**
 * What every server of the resources port promises: the operator's folder and the Kubernetes API alike.
 * Pruning, CEL, admission and rights are not part of it.
 */
export function testResourceServer(name: string, open: () => Promise<ResourceServer>): void {
  describe(name, () => {
    let server: ResourceServer;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server[Symbol.asyncDispose]());
    const client = (): KubeClient => server.client;
    describe('create', () => testCreate(client));
    describe('patch', () => testPatch(client));
    describe('status', () => testStatus(client));
    describe('delete', () => testDelete(client));
    describe('apply', () => testApply(client));
    describe('owners', () => testOwners(client));
    describe('list', () => testList(client));
    describe('watch', () => testWatch(client));
  });
}
