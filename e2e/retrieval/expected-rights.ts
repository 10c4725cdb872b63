import { ExpectedRelations, type Fact } from '../relations/expected-relations.ts';

/** The caller, with names of one tenant. */
export type Asker = {
  readonly tenant: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly principals: readonly string[];
  readonly agent: string | undefined;
};

export type Acl = { readonly groups: readonly string[]; readonly principals: readonly string[] };

type ExpectedCollection = {
  readonly name: string;
  readonly visibility: 'private' | 'public';
  readonly aclModel: 'document' | 'collection';
  readonly owner: string;
};

/**
 * The rights of each caller, written from the contract and independently of the service: tenants are separate objects
 * in this model, so that the data of one tenant cannot affect another. Users, groups and collections have the same
 * names in each tenant.
 */
export class ExpectedRights {
  readonly relations = new ExpectedRelations();
  readonly #collections = new Map<string, ExpectedCollection>();
  readonly #documents = new Map<string, Map<string, Acl>>();

  addCollection(collection: ExpectedCollection): void {
    this.#collections.set(collection.name, collection);
    this.#documents.set(collection.name, new Map());
    this.relations.add([`user:${collection.owner}`, 'owner', `collection:${collection.name}`]);
  }

  get collections(): readonly ExpectedCollection[] {
    return [...this.#collections.values()];
  }

  setAcl(collection: string, docId: string, acl: Acl): void {
    this.#documents.get(collection)?.set(docId, acl);
  }

  hasDocument(collection: string, docId: string): boolean {
    return this.#documents.get(collection)?.has(docId) ?? false;
  }

  /** The status of a query, and the documents that it finds when all of them match. */
  query(asker: Asker, collection: string): { readonly status: 200 | 403 | 404; readonly docIds: readonly string[] } {
    const found = this.#collections.get(collection);
    if (found === undefined) return { status: 404, docIds: [] };
    const reads = found.visibility === 'public' || this.#has(asker, 'reader', collection);
    const opens = asker.agent !== undefined && this.#agentHas(asker.agent, 'reader', collection);
    if (!reads && !opens) return { status: 403, docIds: [] };
    const documents = [...(this.#documents.get(collection) ?? [])];
    const seen = documents.filter(([, acl]) =>
      found.aclModel === 'collection' ? reads : this.#sees(asker, found, acl),
    );
    return { status: 200, docIds: seen.map(([docId]) => docId).sort() };
  }

  /** Whether the request may change documents. */
  writes(asker: Asker, collection: string): boolean {
    if (this.#has(asker, 'writer', collection)) return true;
    return asker.agent !== undefined && this.#agentHas(asker.agent, 'writer', collection);
  }

  /** Names of the collections that a list shows. */
  list(asker: Asker): readonly string[] {
    const names = this.collections.map(({ name }) => name);
    return names.filter((name) => this.query(asker, name).status === 200).sort();
  }

  /** Whether a parent would be the collection itself or a collection below it. */
  closesCircle(child: string, parent: string): boolean {
    if (child === parent) return true;
    const above = this.#parentOf(parent);
    return above !== undefined && this.closesCircle(child, above);
  }

  move(child: string, parent: string | undefined): void {
    const above = this.#parentOf(child);
    if (above !== undefined) this.relations.remove(parentFact(child, above));
    if (parent !== undefined) this.relations.add(parentFact(child, parent));
  }

  #parentOf(child: string): string | undefined {
    const fact = this.relations.facts.find(([, what, where]) => what === 'parent' && where === `collection:${child}`);
    return fact?.[0].slice('collection:'.length);
  }

  #has(asker: Asker, relation: string, collection: string): boolean {
    return this.#claiming(asker).holds(`user:${asker.user}`, relation, `collection:${collection}`);
  }

  #agentHas(agent: string, relation: string, collection: string): boolean {
    return this.relations.holds(`agent:${agent}`, relation, `collection:${collection}`);
  }

  #claiming({ user, groups }: Asker): ExpectedRelations {
    return this.relations.claiming(
      `user:${user}`,
      groups.map((group) => `group:${group}`),
    );
  }

  #sees(asker: Asker, collection: ExpectedCollection, { groups, principals }: Acl): boolean {
    if (groups.length + principals.length === 0) {
      return collection.visibility === 'public' || collection.owner === asker.user;
    }
    if ([asker.user, ...asker.principals].some((name) => principals.includes(name))) return true;
    const relations = this.#claiming(asker);
    return groups.some((group) => relations.holds(`user:${asker.user}`, 'member', `group:${group}`));
  }
}

function parentFact(child: string, parent: string): Fact {
  return [`collection:${parent}`, 'parent', `collection:${child}`];
}
