/**
 * A binding that moves from the alias of its route to the requested alias as soon as that alias is free; aliases are
 * keys.
 */
export type Mover = { readonly name: string; readonly id: string; readonly wants: string; readonly holds: string };

export type AliasWorld = {
  /** The binding whose route holds the alias. */
  holderOf(alias: string): string | undefined;
  /** Absent when the binding is not accepted, is being deleted, has no route or holds the alias that it requests. */
  moverOf(name: string): Mover | undefined;
  /** The owner of the alias after its holder left it and the second binding released its own alias. */
  heirOf(alias: string, aside: string): string | undefined;
};

/**
 * The bindings that wait for each other's alias in a cycle, if this binding has the smallest id and must release its
 * alias. Empty when there is no cycle, when another binding must release its alias, or when a binding outside of the
 * cycle would become the owner of an alias of the cycle.
 */
export function circleToBreak(name: string, world: AliasWorld): readonly Mover[] {
  const circle = circleOf(name, world);
  const [self] = circle;
  if (self === undefined || circle.some((member) => member.id < self.id)) return [];
  return circle.every((member) => world.heirOf(member.wants, self.name) === member.name) ? circle : [];
}

/** A cycle that starts with the named binding; each binding waits for the alias of the next binding. */
function circleOf(name: string, world: AliasWorld): readonly Mover[] {
  const circle: Mover[] = [];
  let next: string | undefined = name;
  while (next !== undefined) {
    const member = world.moverOf(next);
    if (member === undefined) return [];
    circle.push(member);
    next = world.holderOf(member.wants);
    if (next === name) return circle;
    if (circle.some((one) => one.name === next)) return [];
  }
  return [];
}

/**
 * The new alias of a route whose alias belongs to another binding: a reserved alias, so that a cycle of bindings can
 * move, or its previous alias if no other binding requests that.
 */
export type AliasMove =
  | { readonly kind: 'step_aside'; readonly circle: readonly Mover[] }
  | { readonly kind: 'return'; readonly gateway: string; readonly alias: string };
