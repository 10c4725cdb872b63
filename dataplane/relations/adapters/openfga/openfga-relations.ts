import { setTimeout as pause } from 'node:timers/promises';
import type { FgaApiError, OpenFgaClient } from '@openfga/sdk';
import { ConfigError } from '#kit/env/config-error';
import { checkChange, checkLimit } from '../../check-change.ts';
import type { Relations, Tuple } from '../../ports.ts';
import { RelationsModelError, RelationsUnavailableError } from '../../relations-error.ts';
import { checkQuestion } from '../../tuple.ts';
import { authorizationModel, isSameModel } from './authorization-model.ts';

export type OpenFgaOptions = {
  readonly url: URL;
  /** Name of the store; it is made where there is none. */
  readonly storeName: string;
  /** A token that the server asks for; it must not be logged. */
  readonly token?: string;
  /** For the answer to one call, milliseconds; 5,000 where not given. */
  readonly timeoutMs?: number;
};

/** How long replicas that start at once look for each other's store, milliseconds. */
const settleMs = 500;
/** How often a change is sent again that met another one of the same tuples. */
const conflictTries = 8;
const conflictMs = 20;

/** What OpenFGA takes as the name of a store. */
const storeForm = /^[A-Za-z0-9 .\-/^_&@]{3,64}$/;

type Sdk = typeof import('@openfga/sdk');

/**
 * Relations in an OpenFGA server, read with higher consistency. Makes the store and writes the model where the server
 * does not hold it.
 * @throws RelationsUnavailableError
 * @throws ConfigError where the name of the store is none
 */
export async function openOpenFgaRelations(options: OpenFgaOptions): Promise<Relations> {
  if (!storeForm.test(options.storeName)) {
    throw new ConfigError(['the name of the store in OpenFGA must have 3 to 64 letters, digits, spaces or .-/^_&@']);
  }
  // It takes longer to load than all else of a process that mostly needs none of it.
  const sdk = await import('@openfga/sdk');
  const client = new sdk.OpenFgaClient({
    apiUrl: options.url.href.replace(/\/$/, ''),
    retryParams: { maxRetry: 1, minWaitInMs: 50 },
    baseOptions: { timeout: options.timeoutMs ?? 5_000, maxRedirects: 0 },
    ...(options.token === undefined
      ? {}
      : { credentials: { method: sdk.CredentialsMethod.ApiToken, config: { token: options.token } } }),
  });
  client.storeId = await available(() => openStore(client, options.storeName));
  client.authorizationModelId = await available(() => openModel(client));
  return openFgaRelations(sdk, client);
}

function openFgaRelations(sdk: Sdk, client: OpenFgaClient): Relations {
  const consistency = sdk.ConsistencyPreference.HigherConsistency;
  return {
    async check(subject, relation, object) {
      checkQuestion(subject, relation, object);
      const { allowed } = await available(() => client.check({ user: subject, relation, object }, { consistency }));
      return allowed === true;
    },

    async grant(given) {
      const writes = checkChange(given).map(keyOf);
      const conflict = { onDuplicateWrites: sdk.ClientWriteRequestOnDuplicateWrites.Ignore };
      await available(() => untilNoConflict(() => client.write({ writes }, { conflict })));
    },

    async revoke(given) {
      const deletes = checkChange(given).map(keyOf);
      const conflict = { onMissingDeletes: sdk.ClientWriteRequestOnMissingDeletes.Ignore };
      await available(() => untilNoConflict(() => client.write({ deletes }, { conflict })));
    },

    async listTuples({ limit, after }) {
      checkLimit(limit);
      const from = after === undefined ? {} : { continuationToken: after };
      const page = await available(() => client.read({}, { pageSize: limit, consistency, ...from }));
      return {
        tuples: page.tuples.map(({ key }) => ({ subject: key.user, relation: key.relation, object: key.object })),
        next: page.continuation_token === '' ? null : page.continuation_token,
      };
    },

    async [Symbol.asyncDispose]() {},
  };
}

function keyOf({ subject, relation, object }: Tuple): { user: string; relation: string; object: string } {
  return { user: subject, relation, object };
}

/** Of stores of one name the oldest is taken, by every replica: two that start at once may each have made one. */
async function openStore(client: OpenFgaClient, name: string): Promise<string> {
  const found = await storesOf(client, name);
  if (found[0] !== undefined) return found[0];
  const { id } = await client.createStore({ name });
  await pause(settleMs);
  return (await storesOf(client, name))[0] ?? id;
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

/** Two changes of the same tuples at once: the server gives one of them up and asks to try again. */
async function untilNoConflict(run: () => Promise<unknown>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await run();
      return;
    } catch (error) {
      if (!(error instanceof Error) || statusOf(error) !== 409 || tried === conflictTries) throw error;
      await pause(conflictMs * tried);
    }
  }
}

function statusOf(error: Error): number | undefined {
  return (error as FgaApiError).statusCode;
}

/** What failed, without what was sent: errors of the SDK hold requests and tokens. */
async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RelationsModelError || !(error instanceof Error)) throw error;
    const code = 'apiErrorCode' in error ? error.apiErrorCode : undefined;
    switch (code) {
      case 'authorization_model_resolution_too_complex':
        throw new RelationsModelError('too_complex', 'the groups and parents behind this relation are too many');
      case 'invalid_continuation_token':
        throw new RelationsModelError('bad_cursor', 'this is no cursor of an earlier page');
      default:
        throw new RelationsUnavailableError();
    }
  }
}
