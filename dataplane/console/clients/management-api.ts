import type { z } from 'zod';
import { type Overview, overviewSchema } from '#contracts/overview';
import { type OwnRights, ownRightsSchema } from '#contracts/rights';
import { type ApiAnswer, type Call, callApi } from './call-api.ts';

/** The policy management API with the token of one person. */
export type ManagementApi = {
  /** @param after the mark of the overview before: the answer then waits for a change, at most 20 seconds */
  overview(after?: string, signal?: AbortSignal): Promise<ApiAnswer<Overview>>;
  /** The present rights of the person, read once for each request of a browser. */
  ownRights(): Promise<ApiAnswer<OwnRights>>;
  /** Any read or command whose answer has this schema. */
  call<S extends z.ZodType>(path: string, schema: S, call?: Partial<Call>): Promise<ApiAnswer<z.infer<S>>>;
};

export const noRights: OwnRights = {
  view: false,
  author: false,
  apply: false,
  administer: false,
  policies: [],
  models: [],
  viewedPolicies: [],
  viewedModels: [],
};

/** Pages of other services do not wait longer for an API that hangs. */
const rightsMs = 3_000;

/** This timeout is longer than the time for which the API waits for a change. */
const longPollMs = 30_000;

export function createManagementApi(origin: URL, token: string): ManagementApi {
  let rights: Promise<ApiAnswer<OwnRights>> | undefined;
  const authorization = { authorization: `Bearer ${token}` };

  function call<S extends z.ZodType>(
    path: string,
    schema: S,
    options: Partial<Call> = {},
  ): Promise<ApiAnswer<z.infer<S>>> {
    const headers = { ...options.headers, ...authorization };
    return callApi(new URL(path, origin), { ...options, headers }, (value) => {
      const read = schema.safeParse(value);
      return read.success ? read.data : undefined;
    });
  }

  return {
    call,
    ownRights() {
      rights ??= call('/api/v1/own-rights', ownRightsSchema, { timeoutMs: rightsMs });
      return rights;
    },
    overview(after, signal) {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      return call(`/api/v1/overview${query}`, overviewSchema, {
        timeoutMs: longPollMs,
        ...(signal === undefined ? {} : { signal }),
      });
    },
  };
}
