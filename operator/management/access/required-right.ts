import type { AskedOperation } from '#api/operation';
import type { OperationKind } from '#contracts/management';
import { controlPlane } from '#relations/model';

/** A relation to one of several objects. The permission to administer includes all of them. */
export type RequiredRight = {
  readonly relation: 'administer' | 'author' | 'applier' | 'viewer';
  readonly objects: readonly string[];
};

/** The required rights of the operations of the API. */
export type AccessRules = {
  requiredRight(asked: AskedOperation): RequiredRight;
  /** The number of requests as which the operation counts for its subject. */
  costOf(operation: string): number;
  /** Operations that the emergency credential may request. */
  readonly emergencyOperations: readonly string[];
  /** Operations that a caller without the right may request about itself, its own commands, agents and policies. */
  readonly ownOperations: readonly string[];
};

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A role for the control plane, or for the given object; an id that is not a UUID names no object. */
export function roleRight(relation: RequiredRight['relation'], type?: 'policy' | 'model', id?: string): RequiredRight {
  const own = type === undefined || id === undefined || !uuidForm.test(id) ? [] : [`${type}:${id.toLowerCase()}`];
  return { relation, objects: [controlPlane, ...own] };
}

/** The right that the author of a stored command needs: administrators alone override a freeze window. */
export function rightOfAuthor(
  command: Parameters<typeof rightOfCommand>[0] & { readonly overridesFreeze: boolean },
): RequiredRight {
  return command.overridesFreeze ? roleRight('administer') : rightOfCommand(command);
}

/** The right that a stored command needs, which the approver of the command needs, too. */
export function rightOfCommand(command: {
  readonly kind: OperationKind;
  readonly target: { readonly id: string };
}): RequiredRight {
  switch (command.kind) {
    case 'policy.create':
      return roleRight('author');
    case 'policy.update':
      return roleRight('author', 'policy', command.target.id);
    case 'binding.apply':
    case 'binding.unbind':
      return roleRight('applier', 'model', command.target.id);
  }
}
