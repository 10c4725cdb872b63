/** A binding that may own an alias. */
export type Claimant = {
  readonly name: string;
  readonly id: string | undefined;
  readonly gateway: string;
  readonly alias: string;
  readonly deleting: boolean;
  /** Whether the binding released its alias for an exchange and has no alias now. */
  readonly aside: boolean;
};

/** A binding whose route holds an alias. */
export type AliasHolder = {
  readonly bindingName: string;
  readonly bindingId: string;
  readonly gateway: string;
  readonly alias: string;
};

export type Ownership =
  | { readonly kind: 'owner' }
  | { readonly kind: 'alias_conflict'; readonly owner: string }
  | { readonly kind: 'id_conflict'; readonly owner: string };

/**
 * Each alias of a gateway has one owner: the binding whose route has the alias, else a binding that released its alias,
 * else the binding with the smallest id label, else the one with the first name
 * (docs/design/applications-and-routes.md). An id belongs to the binding whose route has it, else to the binding with
 * the first name.
 */
export function decideOwner(self: Claimant, others: readonly Claimant[], holders: readonly AliasHolder[]): Ownership {
  const idOwner = ownerOfId(self, others, holders);
  if (idOwner !== self.name) return { kind: 'id_conflict', owner: idOwner };
  const aliasOwner = ownerOfAlias(self, others, holders);
  return aliasOwner === self.name ? { kind: 'owner' } : { kind: 'alias_conflict', owner: aliasOwner };
}

/** Of the other bindings, only names and ids are compared. */
export function ownerOfId(self: Claimant, others: readonly Claimant[], holders: readonly AliasHolder[]): string {
  if (self.id === undefined) return self.name;
  const names = [self, ...others.filter((other) => other.id === self.id)].map((claimant) => claimant.name);
  const holder = holders.find((holding) => holding.bindingId === self.id && names.includes(holding.bindingName));
  return holder?.bindingName ?? first(names);
}

function ownerOfAlias(self: Claimant, others: readonly Claimant[], holders: readonly AliasHolder[]): string {
  const owners = holders
    .filter((holding) => holding.gateway === self.gateway && holding.alias === self.alias)
    .toSorted((a, b) => compare(a.bindingId, b.bindingId));
  if (owners[0] !== undefined) return owners[0].bindingName;
  const rivals = others.filter(
    (other) => other.gateway === self.gateway && other.alias === self.alias && !other.deleting,
  );
  return firstOfClaimants([self, ...rivals])?.name ?? self.name;
}

/** The owner of an alias without a route. */
export function firstOfClaimants(claimants: readonly Claimant[]): Claimant | undefined {
  return claimants.toSorted(
    (a, b) => Number(b.aside) - Number(a.aside) || compareIds(a.id, b.id) || compare(a.name, b.name),
  )[0];
}

function compareIds(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return compare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function first(names: readonly string[]): string {
  return names.reduce((least, name) => (name < least ? name : least));
}
