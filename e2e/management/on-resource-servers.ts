import { describe } from 'vitest';
import { missingPostgres } from '#sql/testing/test-server';
import { missingApiServer } from '../kube/open-api-server.ts';
import { openSharedClusterWorld } from './open-cluster-world.ts';
import { type ManagementWorld, openManagementWorld, type WorldOptions } from './open-management-world.ts';

type OpenWorld = (options?: WorldOptions) => Promise<ManagementWorld>;

const places = [
  { name: "the operator's folder", missing: missingPostgres, open: openManagementWorld },
  { name: 'a real API server', missing: missingPostgres ?? missingApiServer, open: openSharedClusterWorld },
] as const;

/**
 * Runs a suite with each kind of resource server. If a resource server is missing, the suite is skipped and the title
 * contains the reason.
 */
export function onResourceServers(title: string, suite: (openWorld: OpenWorld) => void): void {
  for (const { name, missing, open } of places) {
    const whole = `${title}, on ${name}`;
    describe.skipIf(missing !== undefined)(missing === undefined ? whole : `${whole} (${missing})`, () => suite(open));
  }
}
