import { ruleOf } from '../../model.ts';
import { membersOfGroup } from '../../tenant-object.ts';
import type { Tuple } from '../../tuple.ts';

/** Number of concurrent look-ups of one question. */
const lookUpsAtOnce = 16;

type TupleQuestion = Tuple & { readonly claimed: readonly string[] };

type TuplePorts = {
  /** Whether the store has exactly this tuple. */
  readonly hasTuple: (tuple: Tuple) => Promise<boolean>;
  /** Every group of which the subject or a claimed group is a member, and the claimed groups themselves. */
  readonly groups: () => Promise<readonly string[]>;
};

/**
 * Whether a subject has a relation that only tuples grant, to an object that is not a group. A tuple of the object is
 * looked up for the subject, for each claimed group, and then for each group of which one of these is a member. No
 * other tuple of the object is read, so that a hidden object costs the same requests, and the same rows, as a missing
 * one.
 * @throws RelationsModelError too_complex for more groups than the walk visits
 */
export async function holdsByTuple({ hasTuple, groups }: TuplePorts, question: TupleQuestion): Promise<boolean> {
  const { subject, relation, object, claimed } = question;
  const type = object.slice(0, object.indexOf(':'));
  if (ruleOf(type, relation)?.direct.includes('group#member') !== true) {
    return await hasTuple({ subject, relation, object });
  }
  const near = [subject, ...claimed.map(membersOfGroup)];
  if (await anyHolds(near)) return true;
  const known = new Set(near);
  const around = (await groups()).map(membersOfGroup);
  return await anyHolds(around.filter((members) => !known.has(members)));

  async function anyHolds(holders: readonly string[]): Promise<boolean> {
    for (let at = 0; at < holders.length; at += lookUpsAtOnce) {
      const some = holders.slice(at, at + lookUpsAtOnce);
      const found = await Promise.all(some.map((holder) => hasTuple({ subject: holder, relation, object })));
      if (found.includes(true)) return true;
    }
    return false;
  }
}
