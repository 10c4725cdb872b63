/** Name of the release that the suite installs, on any cluster. */
export const release = 'portcullis';

/** Group of the kinds that the chart defines. */
export const group = 'portcullis.dev';

/** Names of the namespaces that the suite makes; each run makes one of its own. */
const namespacePattern = /^portcullis-e2e-[0-9a-f]{6}$/;

/** An object that the chart would make and the cluster has already, or a definition of our group. */
export type Present = {
  /** As kubectl names it: kind, group and name. */
  readonly id: string;
  readonly resourceVersion: string;
  /** Which release of Helm it belongs to; undefined where it belongs to none. */
  readonly owner: { readonly release: string; readonly namespace: string } | undefined;
};

/** What is known of a cluster before anything is written there. */
export type Look = {
  /** As kubectl knows the cluster. */
  readonly context: string;
  /** The namespace that is to be made. */
  readonly namespace: string;
  readonly namespaces: ReadonlySet<string>;
  readonly present: readonly Present[];
  /** Objects of our kinds, in any namespace, as `plural namespace/name`. */
  readonly objects: readonly string[];
};

type Use =
  | { readonly kind: 'refused'; readonly reason: string }
  /** @property leftovers definitions of a run that has ended: they become those of this run */
  | { readonly kind: 'allowed'; readonly leftovers: readonly Present[] };

type Rule = (look: Look) => string | undefined;

/** Asked in this order: the first reason is told. */
const rules: readonly Rule[] = [namespaceIsThere, belongsToOthers, runIsThere, leftoversAreUsed];

/** Whether the suite may install on a cluster that is not its own. Who is in doubt is refused. */
export function decideUse(look: Look): Use {
  for (const rule of rules) {
    const reason = rule(look);
    if (reason !== undefined) return { kind: 'refused', reason };
  }
  return { kind: 'allowed', leftovers: look.present };
}

/** What a person does to remove the namespace of a run that was broken off. */
export function removalOf(context: string, namespace: string): string {
  const at = `kubectl --context=${context} --namespace=${namespace} delete`;
  return `${at} modelbindings.${group},guardrailpolicies.${group} --all; ${at} namespace ${namespace}`;
}

function namespaceIsThere({ namespace, namespaces }: Look): string | undefined {
  if (!namespaces.has(namespace)) return undefined;
  return `it has a namespace ${namespace}, and what is in there may be somebody's. Start again: each run takes another name.`;
}

function belongsToOthers({ present }: Look): string | undefined {
  const theirs = present.filter((one) => !isOfSuite(one));
  const [first] = theirs;
  if (first === undefined) return undefined;
  const owner =
    first.owner === undefined
      ? 'no release of Helm'
      : `the release ${first.owner.release} of the namespace ${first.owner.namespace}`;
  return `${someOf(theirs.map(({ id }) => id))} is there and belongs to ${owner}. An installation that is there is neither upgraded nor removed: name a cluster without Portcullis.`;
}

function runIsThere({ context, present, namespaces }: Look): string | undefined {
  const place = present.map(({ owner }) => owner?.namespace ?? '').find((name) => namespaces.has(name));
  if (place === undefined) return undefined;
  return `another run of this suite is at work there in the namespace ${place}, or was broken off. Wait for its end; what was broken off is removed by: ${removalOf(context, place)}`;
}

function leftoversAreUsed({ objects }: Look): string | undefined {
  if (objects.length === 0) return undefined;
  return `its definitions are those that an earlier run of this suite left, and somebody uses them: ${someOf(objects)} is there. Name a cluster without Portcullis.`;
}

function isOfSuite({ owner }: Present): boolean {
  return owner?.release === release && namespacePattern.test(owner.namespace);
}

function someOf(names: readonly string[]): string {
  const [first = '', ...rest] = names;
  return rest.length === 0 ? first : `${first} (and ${rest.length} more)`;
}
