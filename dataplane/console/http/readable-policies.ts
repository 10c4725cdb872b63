import type { ConsoleContext } from './environment.ts';

/** Tells by its id whether the person may read a policy, so that no page has a link that would be refused. */
export async function readablePolicies(context: ConsoleContext): Promise<(id: string) => boolean> {
  if (context.get('session').rights.view) return () => true;
  const held = await context.get('management').ownRights();
  if (held.kind !== 'value') return () => false;
  const { view, viewedPolicies } = held.value;
  return (id) => view || viewedPolicies.includes(id);
}
