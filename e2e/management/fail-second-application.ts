import { definitionOf } from '../../operator/testing/objects.ts';
import type { ManagementWorld } from './open-management-world.ts';

/**
 * A model whose policy `protecting` serves, after the application of the policy `other` failed.
 * @throws if the application does not fail, or ends the protection
 */
export async function failSecondApplication(
  world: ManagementWorld,
): Promise<{ readonly model: string; readonly protecting: string; readonly other: string }> {
  const { id: protecting } = await world.createPolicy('protects', definitionOf('protects'));
  const { id: other } = await world.createPolicy('failed-after', definitionOf('failed-after'));
  const model = await world.createModel('protects');
  await world.applied(model, protecting, 1);
  const { state } = await world.api.ended(await world.apply(model, other, 1, 'unknown-profile'));
  const { serving } = (await world.readBinding(model)).json.observation;
  if (state === 'failed' && serving.policyId === protecting) return { model, protecting, other };
  throw new Error(`the application ${state}, and the policy ${serving.policyId} serves`);
}
