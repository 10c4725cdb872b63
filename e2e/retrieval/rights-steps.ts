import { type Acl, type Asker, ExpectedRights } from './expected-rights.ts';

/** Sends one request of development mode and returns the status and the JSON of the answer. */
export type CallService = (
  caller: Asker,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly json: unknown }>;

/** The service under test. */
export type RightsService = {
  readonly call: CallService;
  /** Submits documents and waits until they are live. */
  readonly ingest: (caller: Asker, documents: readonly object[]) => Promise<void>;
  /** The user `root` administers the installation in every tenant. */
  readonly name: string;
};

export type RightsComparison = {
  readonly steps: Readonly<Record<StepKind, number>>;
  /** Number of random queries; one more follows each change. */
  readonly queries: number;
  /** Documents that queries returned. */
  readonly found: number;
  /** Queries that were refused or found fewer documents than their collection has. */
  readonly restricted: number;
  /** Documents in an answer that the caller may not see. */
  readonly forbidden: number;
  /** Documents that the caller may see and that an answer lacks. */
  readonly missing: number;
  /** Answers with another status, or lists with other collections, than expected. */
  readonly wrongStatus: number;
  /** Number of queries that were answered with 503, which proves nothing, and were sent again. */
  readonly repeated: number;
  readonly first: string | undefined;
};

const stepKinds = ['grant', 'revoke', 'share', 'move', 'group', 'submit', 'list', 'query'] as const;
type StepKind = (typeof stepKinds)[number];
/** The share of each kind of step; the remaining steps are queries. */
const shares: Readonly<Record<StepKind, number>> = {
  grant: 0.1,
  revoke: 0.1,
  share: 0.1,
  move: 0.06,
  group: 0.1,
  submit: 0.01,
  list: 0.05,
  query: 0.48,
};

/** Users, agents, groups, collections and documents have the same names in each tenant. */
const tenants = ['acme', 'globex'];
const modes = ['bm25', 'vector', 'hybrid'] as const;
const users = ['u0', 'u1', 'u2', 'u3', 'u4'];
const agents = ['a0', 'a1'];
const groups = ['g0', 'g1', 'g2', 'g3'];
const docIds = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5'];
/** Names, visibility and acl_model; the same in each tenant. */
const collections = [
  { name: 'c0', visibility: 'private', aclModel: 'document', owner: 'u0' },
  { name: 'c1', visibility: 'private', aclModel: 'collection', owner: 'u0' },
  { name: 'c2', visibility: 'public', aclModel: 'document', owner: 'u1' },
  { name: 'c3', visibility: 'public', aclModel: 'collection', owner: 'u1' },
] as const;

type World = {
  readonly service: RightsService;
  readonly random: () => number;
  readonly rights: ReadonlyMap<string, ExpectedRights>;
  readonly ids: ReadonlyMap<string, string>;
  readonly counts: Counts;
};
type Counts = {
  steps: Record<StepKind, number>;
  queries: number;
  found: number;
  restricted: number;
  forbidden: number;
  missing: number;
  wrongStatus: number;
  repeated: number;
  first: string | undefined;
};

/** Applies random steps to the service and compares every answer with the plain model of rights. */
export async function compareRights(
  service: RightsService,
  steps: number,
  random: () => number,
): Promise<RightsComparison> {
  const world = await openWorld(service, random);
  for (let at = 0; at < steps; at += 1) {
    const kind = pickKind(random);
    world.counts.steps[kind] += 1;
    await takeStep[kind](world, pick(world, tenants), at);
  }
  return world.counts;
}

async function openWorld(service: RightsService, random: () => number): Promise<World> {
  const rights = new Map(tenants.map((tenant) => [tenant, new ExpectedRights()]));
  const ids = new Map<string, string>();
  const steps = Object.fromEntries(stepKinds.map((kind) => [kind, 0])) as Record<StepKind, number>;
  const counts: Counts = {
    steps,
    queries: 0,
    found: 0,
    restricted: 0,
    forbidden: 0,
    missing: 0,
    wrongStatus: 0,
    repeated: 0,
    first: undefined,
  };
  const world = { service, random, rights, ids, counts };
  for (const tenant of tenants) {
    for (const collection of collections) {
      const { status, json } = await service.call(asUser(tenant, collection.owner), '/v1/collections', {
        name: collection.name,
        embedding_profile_id: 'test-profile',
        visibility: collection.visibility,
        acl_model: collection.aclModel,
        empty_acl_policy: 'strictest',
      });
      if (status !== 201) throw new Error(`a collection was not created: ${status} ${JSON.stringify(json)}`);
      ids.set(`${tenant}/${collection.name}`, (json as { collection_id: string }).collection_id);
      rightsOf(world, tenant).addCollection(collection);
    }
  }
  // Each call draws its random numbers before it waits, so that a seed gives the same documents.
  const filled = tenants.flatMap((tenant) => collections.map(({ name }) => submit(world, tenant, name, docIds, 0)));
  await Promise.all(filled);
  return world;
}

const takeStep: Readonly<Record<StepKind, (world: World, tenant: string, at: number) => Promise<void>>> = {
  grant: (world, tenant) => changeGrant(world, tenant, 'add'),
  revoke: (world, tenant) => changeGrant(world, tenant, 'remove'),
  group: changeGroup,
  move: moveCollection,
  list: listCollections,
  query: (world, tenant) => queryOnce(world, tenant),
  submit: (world, tenant, at) => submit(world, tenant, pick(world, collections).name, [pick(world, docIds)], at + 1),
  async share(world, tenant) {
    const [{ name, owner }, docId] = [pick(world, collections), pick(world, docIds)];
    const asker = world.random() < 0.8 ? asUser(tenant, owner) : randomAsker(world, tenant);
    const acl = randomAcl(world);
    const isAllowed = rightsOf(world, tenant).writes(asker, name);
    const body = { collection: name, doc_id: docId, acl };
    const answer = await world.service.call(asker, '/v1/documents:acl', body);
    expectStatus(world, answer.status, isAllowed ? 200 : 403, `share of ${tenant}/${name}/${docId}`);
    if (!isAllowed) return;
    rightsOf(world, tenant).setAcl(name, docId, acl);
    for (const user of users) await queryOnce(world, tenant, { user, name });
  },
};

async function submit(world: World, tenant: string, name: string, ids: readonly string[], at: number): Promise<void> {
  const { owner } = collections.find((one) => one.name === name) as (typeof collections)[number];
  const documents = ids.map((docId) => ({ docId, acl: randomAcl(world) }));
  await world.service.ingest(
    asUser(tenant, owner),
    documents.map(({ docId, acl }) => ({
      collection: name,
      tenant_id: tenant,
      doc_id: docId,
      content: { sections: [{ text: `common words of ${tenant} ${name} ${docId} at ${at}` }] },
      acl,
      content_hash: `${at}`,
      idempotency_key: `${at}`,
    })),
  );
  for (const { docId, acl } of documents) rightsOf(world, tenant).setAcl(name, docId, acl);
}

async function changeGrant(world: World, tenant: string, kind: 'add' | 'remove'): Promise<void> {
  const { service, ids } = world;
  const { relations } = rightsOf(world, tenant);
  const { name, owner } = pick(world, collections);
  // A revoke mostly names a relation that exists.
  const held = relations.facts.filter(
    ([, what, where]) => where === `collection:${name}` && /^(reader|writer)$/.test(what),
  );
  const [subject, relation] = kind === 'remove' && held.length > 0 ? pick(world, held) : randomGrant(world);
  const asker = world.random() < 0.8 ? asUser(tenant, owner) : randomAsker(world, tenant);
  const path = `/v1/collections/${ids.get(`${tenant}/${name}`)}/grants${kind === 'add' ? '' : ':revoke'}`;
  const answer = await service.call(asker, path, { relation, ...holderOf(subject) });
  const isAllowed = asker.user === owner;
  expectStatus(world, answer.status, isAllowed ? 200 : 403, `${kind} ${subject} ${relation} ${tenant}/${name}`);
  if (!isAllowed) return;
  relations[kind]([subject, relation, `collection:${name}`]);
  await queryOnce(world, tenant, { user: userOf(world, subject), name });
}

async function changeGroup(world: World, tenant: string): Promise<void> {
  const { relations } = rightsOf(world, tenant);
  const group = pick(world, groups);
  const members = relations.facts.filter(([, what]) => what === 'member');
  const isRemoval = members.length > 0 && (members.length > 8 || world.random() < 0.5);
  const others = groups.filter((one) => one !== group).map((one) => `group:${one}#member`);
  const kinds = [users.map((one) => `user:${one}`), agents.map((one) => `agent:${one}`), others] as const;
  const joining = pick(world, kinds[world.random() < 0.7 ? 0 : world.random() < 0.3 ? 1 : 2]);
  const [subject, , object] = isRemoval ? pick(world, members) : [joining, 'member', `group:${group}`];
  const verb = isRemoval ? ':remove' : '';
  const path = `/v1/groups/${object.slice('group:'.length)}/members${verb}`;
  const asker = asUser(tenant, world.random() < 0.9 ? 'root' : pick(world, users));
  const { status } = await world.service.call(asker, path, holderOf(subject));
  expectStatus(world, status, asker.user === 'root' ? 200 : 403, `member ${subject} of ${tenant}/${object}`);
  if (asker.user !== 'root') return;
  relations[isRemoval ? 'remove' : 'add']([subject, 'member', object]);
  await queryOnce(world, tenant, { user: userOf(world, subject), name: 'c2' });
}

async function moveCollection(world: World, tenant: string): Promise<void> {
  const rights = rightsOf(world, tenant);
  const [child, parent] = [pick(world, collections), world.random() < 0.4 ? undefined : pick(world, collections)];
  const asker = asUser(tenant, world.random() < 0.8 ? child.owner : pick(world, users));
  const isAllowed = asker.user === child.owner && (parent === undefined || rights.writes(asker, parent.name));
  const circle = parent !== undefined && rights.closesCircle(child.name, parent.name);
  const idOf = (name: string): string | undefined => world.ids.get(`${tenant}/${name}`);
  const body = { parent_id: parent === undefined ? null : idOf(parent.name) };
  const { status } = await world.service.call(asker, `/v1/collections/${idOf(child.name)}:move`, body);
  const expected = !isAllowed ? 403 : circle ? 400 : 200;
  expectStatus(world, status, expected, `move of ${tenant}/${child.name} below ${parent?.name}`);
  if (expected !== 200) return;
  rights.move(child.name, parent?.name);
  await queryOnce(world, tenant, { user: pick(world, users), name: child.name });
}

async function listCollections(world: World, tenant: string): Promise<void> {
  const asker = randomAsker(world, tenant);
  const { status, json } = await world.service.call(asker, '/v1/collections');
  const names = status === 200 ? (json as readonly { name: string }[]).map(({ name }) => name).sort() : [];
  const isRight = status === 200 && names.join() === rightsOf(world, tenant).list(asker).join();
  if (!isRight) fault(world, 'wrongStatus', 1, `list of ${tenant} for ${JSON.stringify(asker)}: ${status} ${names}`);
}

/**
 * Makes a random query, or a query by a user whose right has just changed, without options that could hide the change.
 */
async function queryOnce(
  world: World,
  tenant: string,
  changed?: { readonly user: string; readonly name: string },
): Promise<void> {
  world.counts.queries += 1;
  const asker = changed === undefined ? randomAsker(world, tenant) : asUser(tenant, changed.user);
  const { name } = changed ?? pick(world, collections);
  // The id of a collection of the other tenant does not exist in this tenant.
  const foreign = changed === undefined && world.random() < 0.05;
  const other = tenants.find((one) => one !== tenant);
  const named = foreign
    ? world.ids.get(`${other}/${name}`)
    : world.random() < 0.5
      ? name
      : world.ids.get(`${tenant}/${name}`);
  const expected = foreign ? ({ status: 404, docIds: [] } as const) : rightsOf(world, tenant).query(asker, name);
  // Every document is a candidate of each ranking: it has the words, and the window is larger than the collection.
  const mode = pick(world, modes);
  const body = { collection: named, text: 'common words', mode, top_k: 100 };
  const { status, json } = await sendQuery(world, asker, body);
  const what = `${mode} query of ${tenant}/${name} by ${JSON.stringify(asker)}`;
  expectStatus(world, status, expected.status, what);
  if (expected.status !== 200 || expected.docIds.length < docIds.length) world.counts.restricted += 1;
  if (status !== 200) return;
  const items = (json as { items: readonly { doc_id: string; content: string }[] }).items;
  const isHere = ({ content }: { content: string }): boolean => content.includes(` ${tenant} ${name} `);
  const seen = items.filter((item) => isHere(item) && expected.docIds.includes(item.doc_id));
  world.counts.found += items.length;
  fault(world, 'forbidden', items.length - seen.length, what);
  const found = new Set(seen.map(({ doc_id }) => doc_id));
  fault(world, 'missing', expected.docIds.filter((docId) => !found.has(docId)).length, what);
}

/**
 * A busy search engine answers late, and the service then refuses the query with 503: the query is sent again, at most
 * five times.
 */
async function sendQuery(world: World, asker: Parameters<RightsService['call']>[0], body: object) {
  for (let sent = 1; ; sent += 1) {
    const answer = await world.service.call(asker, '/v1/query', body);
    if (answer.status !== 503 || sent > 5) return answer;
    world.counts.repeated += 1;
  }
}

function expectStatus(world: World, status: number, expected: number, what: string): void {
  if (status !== expected) fault(world, 'wrongStatus', 1, `${what}: ${status} instead of ${expected}`);
}

function fault(world: World, kind: 'forbidden' | 'missing' | 'wrongStatus', count: number, what: string): void {
  if (count === 0) return;
  world.counts[kind] += count;
  world.counts.first ??= `${kind} at ${world.service.name}: ${what}`;
}

function randomGrant(world: World): readonly [string, 'reader' | 'writer'] {
  const holders = [
    ...users.map((one) => `user:${one}`),
    ...agents.map((one) => `agent:${one}`),
    ...groups.map((one) => `group:${one}#member`),
  ];
  return [pick(world, holders), world.random() < 0.7 ? 'reader' : 'writer'];
}

/** A user that a change affects: the subject itself, or any user. */
function userOf(world: World, subject: string): string {
  return subject.startsWith('user:') ? subject.slice('user:'.length) : pick(world, users);
}

/** The members of a body that name a subject. */
function holderOf(subject: string): object {
  const [kind, name = ''] = subject.split(':');
  if (kind === 'user') return { user_id: name };
  return kind === 'agent' ? { agent_id: name } : { group: name.replace('#member', '') };
}

function randomAsker(world: World, tenant: string): Asker {
  const some = (list: readonly string[], share: number): readonly string[] => list.filter(() => world.random() < share);
  return {
    tenant,
    user: pick(world, users),
    groups: some(groups, 0.1),
    principals: some(users, 0.05),
    agent: world.random() < 0.3 ? pick(world, agents) : undefined,
  };
}

function randomAcl(world: World): Acl {
  if (world.random() < 0.15) return { groups: [], principals: [] };
  const acl = {
    groups: groups.filter(() => world.random() < 0.3),
    principals: users.filter(() => world.random() < 0.2),
  };
  return acl.groups.length + acl.principals.length > 0 ? acl : { groups: [pick(world, groups)], principals: [] };
}

function asUser(tenant: string, user: string): Asker {
  return { tenant, user, groups: [], principals: [], agent: undefined };
}

function rightsOf({ rights }: World, tenant: string): ExpectedRights {
  return rights.get(tenant) as ExpectedRights;
}

function pickKind(random: () => number): StepKind {
  let left = random();
  for (const kind of stepKinds) {
    left -= shares[kind];
    if (left < 0) return kind;
  }
  return 'query';
}

function pick<T>({ random }: Pick<World, 'random'>, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}
