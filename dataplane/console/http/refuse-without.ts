import type { OwnRights } from '#contracts/rights';
import { answerRefusal } from './answer-page.ts';
import type { ConsoleContext } from './environment.ts';

/** The refusal of a page whose every action the API would refuse now; undefined if the person has the right. */
export async function refuseWithout(
  context: ConsoleContext,
  title: string,
  isAllowed: (rights: OwnRights) => boolean,
): Promise<Response | undefined> {
  const held = await context.get('management').ownRights();
  if (held.kind !== 'value') return answerRefusal(context, title, held);
  if (isAllowed(held.value)) return undefined;
  return answerRefusal(context, title, { kind: 'refused', status: 403, code: 'permission_denied', message: '' });
}
