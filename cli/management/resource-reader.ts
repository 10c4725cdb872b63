import { z } from 'zod';
import type { KubeClient, ListOptions } from '#kube/client/client';
import type { ObjectList } from '#kube/client/decode-object';
import { KubeError } from '#kube/client/kube-error';
import type { KubeObject } from '#kube/client/kube-object';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import { ManagementApiError } from './management-error.ts';
import { type ManagementConnection, sendRequest } from './send-request.ts';

const base = '/api/v1/resources';

const requiredMembers = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), uid: z.string(), generation: z.int(), creationTimestamp: z.string() }),
  spec: z.looseObject({}),
});
/** The object as it was sent, with the order of its members. */
const objectSchema = z.custom<Stored<Resource>>((value) => requiredMembers.safeParse(value).success);
const listSchema = z.looseObject({ items: z.array(objectSchema), continue: z.string().nullable() });
const discoverySchema = z.looseObject({ namespace: z.string(), kinds: z.array(z.string()) });

/**
 * Reads resources through the management API. Writes are commands of the API, so writing methods, and kinds that the
 * API does not show, are refused with a sentence.
 * @throws CliError failed if the API is of a version without these reads
 */
export async function openResourceReader(
  connection: ManagementConnection,
): Promise<KubeClient & { readonly shows: (kind: Kind) => boolean }> {
  const { namespace, kinds: plurals } = await discover(connection);

  function pathOf({ kind, plural }: Kind, ...name: readonly string[]): string {
    if (plurals.includes(plural)) return [base, plural, ...name.map(encodeURIComponent)].join('/');
    throw new CliError(
      'usage',
      `The management API shows ${plurals.join(', ')} and no ${kind}: repeat the command with --via resources.`,
    );
  }

  const refused = async (): Promise<never> => {
    throw new CliError('usage', 'The management API has no such command: repeat it with --via resources.');
  };

  return {
    namespace,
    shows: ({ plural }) => plurals.includes(plural),
    async get<R extends KubeObject = Resource>(kind: Kind, name: string): Promise<Stored<R> | undefined> {
      try {
        const { value } = await sendRequest(connection, { method: 'GET', path: pathOf(kind, name) }, objectSchema);
        // The schema has validated the fields that every server sets; the kind determines the type of the other fields.
        return value as KubeObject as Stored<R>;
      } catch (error) {
        if (error instanceof ManagementApiError && absences.has(error.code)) return undefined;
        throw error;
      }
    },
    async list<R extends KubeObject = Resource>(kind: Kind, options: ListOptions = {}): Promise<ObjectList<R>> {
      const path = `${pathOf(kind)}${queryOf(options)}`;
      try {
        const { value } = await sendRequest(connection, { method: 'GET', path }, listSchema);
        const items = value.items as readonly KubeObject[] as readonly Stored<R>[];
        return { items, resourceVersion: '', ...(value.continue === null ? {} : { continue: value.continue }) };
      } catch (error) {
        if (!(error instanceof ManagementApiError) || error.code !== 'cursor_invalid') throw error;
        throw new KubeError('gone', 'the list has changed too often', {}, { cause: error });
      }
    },
    create: refused,
    patch: refused,
    patchStatus: refused,
    delete: refused,
    // biome-ignore lint/correctness/useYield: a watch over the API is refused before its first event
    async *watch() {
      await refused();
    },
  };
}

const absences: ReadonlySet<string> = new Set(['policy_not_found', 'revision_not_found', 'model_not_found']);

async function discover(connection: ManagementConnection): Promise<z.output<typeof discoverySchema>> {
  try {
    return (await sendRequest(connection, { method: 'GET', path: base }, discoverySchema)).value;
  } catch (error) {
    if (!(error instanceof ManagementApiError) || error.code !== 'not_found') throw error;
    throw new CliError(
      'failed',
      `The management API at ${connection.origin} cannot read resources by name: update it to this version.`,
      { cause: error },
    );
  }
}

function queryOf({ limit, continue: token, labelSelector }: ListOptions): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (token !== undefined) query.set('continue', token);
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector);
  return query.size === 0 ? '' : `?${query}`;
}
