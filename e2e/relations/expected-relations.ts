/** A relation: subject, relation, object. */
export type Fact = readonly [subject: string, relation: string, object: string];

/**
 * The relations that follow from a small set of facts, written independently of the model, so that a mistake in the model
 * shows as a difference. Owners write, writers read, readers of a parent read its children and documents.
 */
export class ExpectedRelations {
  readonly #facts = new Map<string, Fact>();

  add(fact: Fact): void {
    this.#facts.set(fact.join(' '), fact);
  }

  remove(fact: Fact): void {
    this.#facts.delete(fact.join(' '));
  }

  get facts(): readonly Fact[] {
    return [...this.#facts.values()];
  }

  /** Returns these relations with groups that the subject claims for one question. */
  claiming(subject: string, groups: readonly string[]): ExpectedRelations {
    const claimed = new ExpectedRelations();
    for (const fact of this.facts) claimed.add(fact);
    for (const group of groups) claimed.add([subject, 'member', group]);
    return claimed;
  }

  holds(subject: string, relation: string, object: string, asked: ReadonlySet<string> = new Set()): boolean {
    const question = `${relation} ${object}`;
    if (asked.has(question)) return false;
    const next = new Set([...asked, question]);
    if (this.#holdsDirectly(subject, relation, object, next)) return true;
    if (object.startsWith('collection:') && relation === 'writer') return this.holds(subject, 'owner', object, next);
    if (object.startsWith('collection:') && relation === 'reader') {
      return this.holds(subject, 'writer', object, next) || this.#parentReads(subject, object, next);
    }
    if (object.startsWith('document:') && relation === 'viewer') return this.#parentReads(subject, object, next);
    return false;
  }

  #holdsDirectly(subject: string, relation: string, object: string, asked: ReadonlySet<string>): boolean {
    return this.facts.some(([who, what, where]) => {
      if (what !== relation || where !== object) return false;
      if (who === subject) return true;
      return who.endsWith('#member') && this.holds(subject, 'member', who.slice(0, -'#member'.length), asked);
    });
  }

  #parentReads(subject: string, object: string, asked: ReadonlySet<string>): boolean {
    return this.facts.some(
      ([parent, what, where]) => what === 'parent' && where === object && this.holds(subject, 'reader', parent, asked),
    );
  }
}
