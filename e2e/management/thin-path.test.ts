import { expect, onTestFinished, test } from 'vitest';
import { onResourceServers } from './on-resource-servers.ts';

onResourceServers('a policy through the management API', (openWorld) => {
  test('a policy can be created, read, applied to a model and confirmed through the management API', async () => {
    const world = await openWorld();
    onTestFinished(() => world[Symbol.asyncDispose]());
    const { id } = await world.createPolicy();
    const { policy } = await world.readPolicy(id);
    expect(policy).toMatchObject({ id, name: 'guard', revision: 1, status: 'draft' });
    const modelId = await world.createModel('chat');
    const answer = await world.applied(modelId, id, 1);
    expect(answer.json).toMatchObject({ modelId, state: 'applied', binding: { policyId: id, policyRevision: 1 } });
  });
});
