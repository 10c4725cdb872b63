import type { z } from 'zod';
import {
  deletedCollectionSchema,
  type ManagedConflict,
  managedCollectionSchema,
  managedConflicts,
  releasedCollectionSchema,
} from '#contracts/managed-collections';
import { retrievalErrorSchema } from '#contracts/retrieval';
import { withTimeout } from '#kit/concurrency/abort';
import { readBounded } from '#kit/http/read-bounded';
import type { TokenFile } from '#kit/http/token-file';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { assertWritesAllowed } from '#kube/election/fenced-client';
import type { AwayReason, CollectionPlace, EndOutcome, ManagedCollections, ServiceAway } from '../../ports.ts';

type HttpCollectionsOptions = {
  /** Internal address of the retrieval service. */
  readonly url: URL;
  /** The service token; its first line is sent. */
  readonly tokenFile: Pick<TokenFile, 'first'>;
  /** Timeout of a request, milliseconds; the service itself waits at most 10 s. */
  readonly timeoutMs?: number;
  /** Called before each request, because every request changes something. */
  readonly writesAllowed: () => boolean;
};

const standardTimeoutMs = 15_000;
/** A collection as JSON: names and a description, each character in at most six bytes. */
const maxAnswerBytes = 65_536;

type Answer = { readonly kind: 'answer'; readonly status: number; readonly value: unknown } | ServiceAway;
type Sent = { readonly method: 'PUT' | 'DELETE'; readonly path: string; readonly body?: unknown };

/** The internal address of the retrieval service. Redirects are not followed, and every answer is validated. */
export function createHttpCollections(options: HttpCollectionsOptions): ManagedCollections {
  const { url, tokenFile, timeoutMs = standardTimeoutMs, writesAllowed } = options;

  async function send({ method, path, body }: Sent, parent: AbortSignal): Promise<Answer> {
    const token = readToken(tokenFile);
    if (token === undefined) return away('no_token');
    assertWritesAllowed(writesAllowed);
    using budget = withTimeout(parent, timeoutMs);
    try {
      const response = await fetch(new URL(path, url), {
        method,
        redirect: 'error',
        signal: budget.signal,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const bytes = response.body === null ? Buffer.alloc(0) : await readBounded(response.body, maxAnswerBytes);
      if (bytes === undefined) return away('invalid_answer');
      return { kind: 'answer', status: response.status, value: jsonOrUndefined(bytes.toString('utf8')) };
    } catch {
      parent.throwIfAborted();
      return away('no_answer');
    }
  }

  async function end(path: string, schema: z.ZodType, signal: AbortSignal): Promise<EndOutcome> {
    const answer = await send({ method: 'DELETE', path }, signal);
    if (answer.kind === 'away') return answer;
    if (answer.status === 200)
      return schema.safeParse(answer.value).success ? { kind: 'ended' } : away('invalid_answer');
    const over = answer.status === 409 ? conflictOf(answer.value) : undefined;
    return over === undefined ? away(reasonOf(answer.status)) : { kind: 'conflict', over };
  }

  return {
    async ensure(place, declared, signal) {
      const answer = await send({ method: 'PUT', path: pathOf(place), body: declared }, signal);
      if (answer.kind === 'away') return answer;
      const { status, value } = answer;
      if (status === 200) {
        const read = managedCollectionSchema.safeParse(value);
        if (!read.success) return away('invalid_answer');
        const { collection, failing_providers: failingProviders = [] } = read.data;
        return { kind: 'ensured', collection, failingProviders };
      }
      const over = status === 409 ? conflictOf(value) : undefined;
      if (over !== undefined) return { kind: 'conflict', over };
      if (status === 400 || status === 413) return { kind: 'refused', member: memberOf(value) ?? '' };
      return away(reasonOf(status));
    },
    delete: (place, manager, signal) => end(`${pathOf(place)}${by(manager)}`, deletedCollectionSchema, signal),
    release: (place, manager, signal) =>
      end(`${pathOf(place)}/manager${by(manager)}`, releasedCollectionSchema, signal),
  };
}

function pathOf({ tenant, collectionId }: CollectionPlace): string {
  return `/internal/tenants/${encodeURIComponent(tenant)}/collections/${encodeURIComponent(collectionId)}`;
}

function by(manager: string): string {
  return `?manager=${encodeURIComponent(manager)}`;
}

function away(why: AwayReason): ServiceAway {
  return { kind: 'away', why };
}

function reasonOf(status: number): AwayReason {
  return status === 401 || status === 403 ? 'unauthorized' : 'failed';
}

/** The member that the first problem of an error names: `/name another collection …`. */
function memberOf(value: unknown): string | undefined {
  const read = retrievalErrorSchema.safeParse(value);
  return read.success ? /^\/?([a-z_]+(?:\.[a-z_]+)*) /.exec(read.data.message)?.[1] : undefined;
}

function conflictOf(value: unknown): ManagedConflict | undefined {
  const member = memberOf(value);
  return member !== undefined && Object.hasOwn(managedConflicts, member) ? (member as ManagedConflict) : undefined;
}

function readToken(tokenFile: Pick<TokenFile, 'first'>): string | undefined {
  try {
    return tokenFile.first();
  } catch {
    return undefined;
  }
}
