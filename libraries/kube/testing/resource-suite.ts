import { afterAll, beforeAll, describe } from 'vitest';
import type { KubeClient } from '../client/client.ts';
import { testApply } from './suite/apply-manifests.ts';
import { testCreate, testPatch, testPurge, testStatus } from './suite/create-and-patch.ts';
import { testDelete, testOwners } from './suite/delete-and-owners.ts';
import { testList, testWatch } from './suite/list-and-watch.ts';
import { testProtection } from './suite/protection.ts';

/** The server under test. Each test uses its own names, so that the server may hold other objects. */
type ResourceServer = AsyncDisposable & { readonly client: KubeClient };

/**
 * The behaviour that every resource server must have, the standalone operator and the Kubernetes API. Pruning, CEL,
 * other admission rules than those that protect guardrails, and authorization are not part of it.
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
    describe('removal of a text', () => testPurge(client));
    describe('status', () => testStatus(client));
    describe('delete', () => testDelete(client));
    describe('apply', () => testApply(client));
    describe('owners', () => testOwners(client));
    describe('protection', () => testProtection(client));
    describe('list', () => testList(client));
    describe('watch', () => testWatch(client));
  });
}
