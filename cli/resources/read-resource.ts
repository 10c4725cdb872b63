import { readShape } from '#contracts/read-shape';
import type { KubeClient } from '#kube/client/client';
import type { Kind } from '#resources/kinds';
import { nameSchema, type Resource, type Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import { absentResource, meantName } from './absent-resource.ts';

/** @throws CliError usage for an invalid name, not_found */
export async function readResource<R extends Resource>(
  client: KubeClient,
  kind: Kind,
  name: string,
): Promise<Stored<R>> {
  const checked = readShape(nameSchema, name);
  if (!checked.ok) {
    const meant = await meantName(client, [kind], name);
    throw new CliError(
      'usage',
      `${JSON.stringify(name)} is not a valid name: it ${checked.problems[0]?.message}.${meant}`,
    );
  }
  const found = await client.get<R>(kind, name);
  if (found !== undefined) return found;
  throw await absentResource(client, kind, name);
}
