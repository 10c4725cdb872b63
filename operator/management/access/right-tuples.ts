import type { ControlRight, controlRoles } from '#contracts/rights';
import { controlPlane } from '#relations/model';
import type { Tuple } from '#relations/ports';
import { issuerGroup, readIssuerGroup, readUserSubject, userSubject } from '#relations/subject';

type Role = (typeof controlRoles)[number];

const relations: Readonly<Record<Role, string>> = {
  administrator: 'administer',
  author: 'author',
  applier: 'applier',
  viewer: 'viewer',
};

/** The tuple of a right. @throws RelationsModelError for names that are too long to be stored */
export function tupleOfRight({ role, holder, policyId, modelId }: ControlRight): Tuple {
  const subject = 'subject' in holder ? userSubject(holder) : `${issuerGroup(holder.issuer, holder.group)}#member`;
  const object =
    policyId !== undefined
      ? `policy:${policyId.toLowerCase()}`
      : modelId !== undefined
        ? `model:${modelId.toLowerCase()}`
        : controlPlane;
  return { subject, relation: relations[role], object };
}

/** The right of a tuple; undefined for a tuple of another kind of object. */
export function rightOfTuple({ subject, relation, object }: Tuple): ControlRight | undefined {
  const role = (Object.keys(relations) as Role[]).find((one) => relations[one] === relation);
  const holder = readUserSubject(subject) ?? readIssuerGroup(subject.replace(/#member$/, ''));
  const [type, id = ''] = object.split(':');
  if (role === undefined || holder === undefined) return undefined;
  if (object === controlPlane) return { role, holder };
  if (type === 'policy') return { role, holder, policyId: id };
  return type === 'model' ? { role, holder, modelId: id } : undefined;
}
