import type { OpenFgaClient } from '@openfga/sdk';
import { ConfigError } from '#kit/env/config-error';
import type { TokenFile } from '#kit/http/token-file';
import { checkChange, checkLimit, checkReplacement } from '../../check-change.ts';
import { isGrantedOnly, type ObjectType } from '../../model.ts';
import { objectsWithin } from '../../objects-within.ts';
import { type RelationChecker, type Relations, relationLimits, type Tuple } from '../../ports.ts';
import { RelationsModelError } from '../../relations-error.ts';
import {
  checkClaims,
  checkHolder,
  checkObject,
  checkObjects,
  checkQuestion,
  checkTypeRelation,
  checkWindow,
} from '../../tuple.ts';
import { httpStatusOf, readTwice, untilNoConflict } from './attempts.ts';
import { authorizationModel, isSameModel } from './authorization-model.ts';
import { checkInBatches } from './check-in-batches.ts';
import { claimParts } from './claim-parts.ts';
import { holdsByTuple } from './holds-by-tuple.ts';
import { groupsFrom, largestReach, objectsFrom, type ReadTuples, tooComplex } from './reach.ts';
import type { StoreRegistry } from './store-registry.ts';
import { unanswered } from './unanswered.ts';

type OpenFgaOptions = {
  readonly url: URL;
  /** Name of the store; created if absent. */
  readonly storeName: string;
  /** The registry through which replicas agree on the store. */
  readonly stores: StoreRegistry;
  /** The token for the server, read again when its file changes. */
  readonly tokenFile?: Pick<TokenFile, 'first'>;
  /** Timeout of one call, milliseconds; 5,000 by default. */
  readonly timeoutMs?: number;
  /** Maximum number of pairs of object and relation that one list visits; by default `largestReach`. */
  readonly mostReached?: number;
};

/**
 * Maximum number of groups that a check of a granted relation walks through: a refused caller costs about one request
 * for each group, and one for each checked relation.
 */
const largestWalkOfCheck = 1_000;

/** The code of a call without an answer: the SDK keeps the message of an error without an answer, and not its code. */
const lateMessage = 'no answer within the timeout of the client';

/** Names of stores that OpenFGA accepts. */
const storeForm = /^[A-Za-z0-9 .\-/^_&@]{3,64}$/;

type Sdk = typeof import('@openfga/sdk');

/**
 * Relations in an OpenFGA server, read with higher consistency. Creates the store and writes the model if absent.
 * @throws RelationsUnavailableError
 * @throws ConfigError for an invalid store name
 */
export async function openOpenFgaRelations(options: OpenFgaOptions): Promise<Relations> {
  if (!storeForm.test(options.storeName)) {
    throw new ConfigError(['the name of the store in OpenFGA must have 3 to 64 letters, digits, spaces or .-/^_&@']);
  }
  // Imported on demand: most processes do not use OpenFGA, and its package is slow to load.
  const sdk = await import('@openfga/sdk');
  const clients = createClients(sdk, options);
  const storeId = await available(() => readTwice(sdk, () => openStore(clients({}), options)));
  const authorizationModelId = await available(() => readTwice(sdk, () => openModel(clients({ storeId }))));
  const client = () => clients({ storeId, authorizationModelId });
  return openFgaRelations(sdk, client, options.mostReached ?? largestReach);
}

type Place = { readonly storeId?: string; readonly authorizationModelId?: string };

/** The current client. The SDK takes token and store at creation, so that a change needs a new client. */
function createClients(sdk: Sdk, options: OpenFgaOptions): (place: Place) => OpenFgaClient {
  let held: { readonly key: string; readonly client: OpenFgaClient } | undefined;
  return (place) => {
    const token = options.tokenFile?.first();
    const key = JSON.stringify([token, place]);
    if (held?.key !== key) held = { key, client: createClient(sdk, options, place, token) };
    return held.client;
  };
}

function createClient(sdk: Sdk, options: OpenFgaOptions, place: Place, token: string | undefined): OpenFgaClient {
  return new sdk.OpenFgaClient({
    ...place,
    apiUrl: addressOf(options.url),
    // The SDK waits up to half an hour before it sends a request again, if the answer requests that.
    retryParams: { maxRetry: 0 },
    baseOptions: { timeout: options.timeoutMs ?? 5_000, timeoutErrorMessage: lateMessage, maxRedirects: 0 },
    ...(token === undefined ? {} : { credentials: { method: sdk.CredentialsMethod.ApiToken, config: { token } } }),
  });
}

function addressOf(url: URL): string {
  return url.href.replace(/\/$/, '');
}

function openFgaRelations(sdk: Sdk, client: () => OpenFgaClient, most: number): Relations {
  const consistency = sdk.ConsistencyPreference.HigherConsistency;
  const answer = <T>(run: () => Promise<T>): Promise<T> => available(() => readTwice(sdk, run));

  async function readAll(key: { readonly user?: string; readonly object: string }): Promise<readonly Tuple[]> {
    const tuples: Tuple[] = [];
    let continuationToken = '';
    do {
      const from = continuationToken === '' ? {} : { continuationToken };
      const page = await answer(() => client().read(key, { pageSize: relationLimits.page, consistency, ...from }));
      tuples.push(...page.tuples.map((found) => tupleOf(found.key)));
      continuationToken = page.continuation_token;
      if (tuples.length > most) throw tooComplex();
    } while (continuationToken !== '');
    return tuples;
  }
  const read: ReadTuples = (subject, type) => readAll({ user: subject, object: `${type}:` });
  const walk = { read, most };

  async function hasTuple(tuple: Tuple): Promise<boolean> {
    const page = await answer(() => client().read(keyOf(tuple), { pageSize: 1, consistency }));
    return page.tuples.length > 0;
  }

  /** The check of the server, whose time depends on the groups that have a right on the object. */
  async function checkAtServer({ subject, relation, object }: Tuple, claimed: readonly string[]): Promise<boolean> {
    for (const part of claimParts(claimed)) {
      const contextualTuples = part.map((group) => ({ user: subject, relation: 'member', object: group }));
      const question = { user: subject, relation, object, contextualTuples };
      const { allowed } = await answer(() => client().check(question, { consistency }));
      if (allowed === true) return true;
    }
    return false;
  }

  function checkerOf(subject: string, claimed: readonly string[] = []): RelationChecker {
    const walkForCheck = { read, most: Math.min(most, largestWalkOfCheck) };
    let groups: Promise<readonly string[]> | undefined;
    const groupsOnce = (): Promise<readonly string[]> => {
      groups ??= groupsFrom(walkForCheck, subject, claimed);
      return groups;
    };
    return async (relation, object) => {
      checkQuestion(subject, relation, object);
      checkClaims(subject, claimed);
      const tuple = { subject, relation, object };
      const type = object.slice(0, object.indexOf(':')) as ObjectType;
      if (!isGrantedOnly(type, relation)) return await checkAtServer(tuple, claimed);
      try {
        return await holdsByTuple({ hasTuple, groups: groupsOnce }, { ...tuple, claimed });
      } catch (error) {
        if (error instanceof RelationsModelError && error.code === 'too_complex') {
          return await checkAtServer(tuple, claimed);
        }
        throw error;
      }
    };
  }

  return {
    joinsTransactions: false,

    check: (subject, relation, object, claimed) => checkerOf(subject, claimed)(relation, object),
    checkerOf,

    async groupsOf(subject, claimed = []) {
      checkClaims(subject, claimed);
      return groupsFrom(walk, subject, claimed);
    },

    async objectsOf(subject, relation, type, claimed = []) {
      checkClaims(subject, claimed);
      checkTypeRelation(relation, type);
      return objectsFrom(walk, { subject, relation, type, claimed });
    },

    async nextObjects(subject, relation, type, window, claimed = []) {
      checkHolder(subject, claimed);
      checkTypeRelation(relation, type);
      checkWindow(window);
      return objectsWithin(await objectsFrom(walk, { subject, relation, type, claimed }), window);
    },

    async checkEach(subject, relation, objects, claimed = []) {
      checkClaims(subject, claimed);
      const type = checkObjects(relation, objects);
      if (type === undefined) return [];
      const pace = isGrantedOnly(type, relation) ? 'granted' : 'implied';
      const allowed = objects.map(() => false);
      for (const part of claimParts(claimed)) {
        const open = [...objects.keys()].filter((at) => !allowed[at]);
        const question = {
          subject,
          relation,
          objects: open.map((at) => objects[at] ?? ''),
          claimed: part,
          pace,
        } as const;
        const answers = await answer(() => checkInBatches(client(), question, consistency));
        for (const [place, at] of open.entries()) allowed[at] = answers[place] === true;
      }
      return allowed;
    },

    async tuplesOf(object) {
      checkObject(object);
      const order = ({ relation, subject }: Tuple): string => `${relation} ${subject}`;
      return (await readAll({ object })).toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
    },

    async grant(given) {
      const writes = checkChange(given).map(keyOf);
      const conflict = { onDuplicateWrites: sdk.ClientWriteRequestOnDuplicateWrites.Ignore };
      await available(() => untilNoConflict(() => client().write({ writes }, { conflict })));
    },

    async revoke(given) {
      const deletes = checkChange(given).map(keyOf);
      const conflict = { onMissingDeletes: sdk.ClientWriteRequestOnMissingDeletes.Ignore };
      await available(() => untilNoConflict(() => client().write({ deletes }, { conflict })));
    },

    async replace(change) {
      const { removed, added } = checkReplacement(change);
      const [writes, deletes] = [added.map(keyOf), removed.map(keyOf)];
      const conflict = {
        onDuplicateWrites: sdk.ClientWriteRequestOnDuplicateWrites.Ignore,
        onMissingDeletes: sdk.ClientWriteRequestOnMissingDeletes.Ignore,
      };
      await available(() => untilNoConflict(() => client().write({ writes, deletes }, { conflict })));
    },

    async listTuples({ limit, after }) {
      checkLimit(limit);
      const from = after === undefined ? {} : { continuationToken: after };
      const page = await answer(() => client().read({}, { pageSize: limit, consistency, ...from }));
      return {
        tuples: page.tuples.map(({ key }) => tupleOf(key)),
        next: page.continuation_token === '' ? null : page.continuation_token,
      };
    },

    async [Symbol.asyncDispose]() {},
  };
}

function tupleOf(key: { user: string; relation: string; object: string }): Tuple {
  return { subject: key.user, relation: key.relation, object: key.object };
}

function keyOf({ subject, relation, object }: Tuple): { user: string; relation: string; object: string } {
  return { user: subject, relation, object };
}

/**
 * The claimed store of the installation; if there is none, or it no longer exists, the oldest store with the name, else
 * a new one. A replica that claims late uses the earlier claim; the store that it has created for its own claim stays
 * unused.
 */
async function openStore(client: OpenFgaClient, { url, storeName, stores }: OpenFgaOptions): Promise<string> {
  const key = JSON.stringify([addressOf(url), storeName]);
  const claimed = await stores.find(key);
  if (claimed !== undefined && (await isThere(client, claimed))) return claimed;
  const [oldest] = await storesOf(client, storeName);
  if (oldest !== undefined) return stores.claim(key, oldest, claimed);
  const { id } = await client.createStore({ name: storeName });
  const counts = await stores.claim(key, id, claimed);
  if (counts !== id) await client.deleteStore({ storeId: id });
  return counts;
}

async function isThere(client: OpenFgaClient, storeId: string): Promise<boolean> {
  try {
    await client.getStore({ storeId });
    return true;
  } catch (error) {
    if (error instanceof Error && httpStatusOf(error) === 404) return false;
    throw error;
  }
}

async function storesOf(client: OpenFgaClient, name: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let continuationToken: string | undefined;
  do {
    const page = await client.listStores({ name, pageSize: 100, ...(continuationToken ? { continuationToken } : {}) });
    ids.push(...page.stores.filter((store) => store.name === name).map((store) => store.id));
    continuationToken = page.continuation_token;
  } while (continuationToken);
  return ids.sort();
}

async function openModel(client: OpenFgaClient): Promise<string> {
  const { authorization_model: latest } = await client.readLatestAuthorizationModel();
  if (latest !== undefined && isSameModel(latest)) return latest.id;
  const written = await client.writeAuthorizationModel(authorizationModel());
  return written.authorization_model_id;
}

async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RelationsModelError || !(error instanceof Error)) throw error;
    const code = 'apiErrorCode' in error ? error.apiErrorCode : undefined;
    switch (code) {
      case 'authorization_model_resolution_too_complex':
        throw tooComplex();
      case 'invalid_continuation_token':
        throw new RelationsModelError('bad_cursor', 'the cursor is not that of an earlier page');
      default:
        throw unanswered(error, error.message.endsWith(lateMessage));
    }
  }
}
