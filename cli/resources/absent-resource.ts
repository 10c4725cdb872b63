import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { type Kind, kinds } from '#resources/kinds';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';

/** The error that a resource does not exist, with the name that was probably meant. */
export async function absentResource(client: KubeClient, kind: Kind, name: string): Promise<CliError> {
  const sentence = `There is no ${kind.kind} named ${name} in the namespace ${client.namespace}.`;
  return new CliError('not_found', `${sentence}${await nameRemedy(client, kind, name)}`);
}

/** The name that was probably meant, or the command that lists the names; with a leading space. */
export async function nameRemedy(client: KubeClient, kind: Kind, name: string): Promise<string> {
  const meant = didYouMean(name, await namesOf(client, kind));
  return meant === '' ? ` ${typedCommand(`get ${kind.plural}`)} lists the names.${otherPlace(kind)}` : meant;
}

/** The command that shows objects of this name that are no resources, as a sentence with a leading space; else empty. */
export function otherPlace(kind: Kind | undefined): string {
  if (kind?.kind !== kinds.collection.kind) return '';
  return ' "portcullis collection list --as PERSON" shows the collections that persons created.';
}

/**
 * The name that was probably meant, among the names of several kinds, with a leading space; empty if no name is near.
 */
export async function meantName(client: KubeClient, among: readonly Kind[], name: string): Promise<string> {
  const names = await Promise.all(among.map((kind) => namesOf(client, kind)));
  return didYouMean(name, names.flat());
}

/** The list is only a hint: a missing permission or a server failure is not reported again. */
async function namesOf(client: KubeClient, kind: Kind): Promise<readonly string[]> {
  try {
    return (await listAll(client, kind)).items.map(({ metadata }) => metadata.name);
  } catch {
    return [];
  }
}
