import { confirmDeletionAnnotation } from '#resources/kinds';
/** Name of the release that the suite installs. */
export const expectedRelease = 'portcullis';

/** Group of the kinds that the chart defines. */
export const portcullisGroup = 'portcullis.dev';

/** Names of the namespaces that the suite creates, one for each run. */
const namespacePattern = /^portcullis-e2e-[0-9a-f]{6}$/;

/** An existing object that the chart would create, or a definition of the Portcullis group. */
export type Present = {
  /** Kind, group and name in the format of kubectl. */
  readonly id: string;
  readonly resourceVersion: string;
  /** The Helm release that owns the object; undefined if no release owns it. */
  readonly owner: { readonly release: string; readonly namespace: string } | undefined;
};

/** State of a cluster, read before any write. */
export type ClusterSnapshot = {
  /** Name of the kubectl context. */
  readonly context: string;
  /** The namespace to create. */
  readonly namespace: string;
  readonly namespaces: ReadonlySet<string>;
  readonly present: readonly Present[];
  /** Portcullis objects in any namespace, as `Kind namespace/name`. */
  readonly objects: readonly string[];
};

type Use =
  | { readonly kind: 'refused'; readonly reason: string }
  /** @property leftovers definitions of an earlier run, which this run takes over */
  | { readonly kind: 'allowed'; readonly leftovers: readonly Present[] };

type Rule = (look: ClusterSnapshot) => string | undefined;

/** The rules are evaluated in this order; the first reason is reported. */
const rules: readonly Rule[] = [namespaceIsThere, belongsToOthers, runIsThere, leftoversAreUsed];

/** Decides whether the suite may install on a cluster of another owner; refuses in doubt. */
export function decideUse(look: ClusterSnapshot): Use {
  for (const rule of rules) {
    const reason = rule(look);
    if (reason !== undefined) return { kind: 'refused', reason };
  }
  return { kind: 'allowed', leftovers: look.present };
}

/** Commands that remove the namespace of an aborted run. */
export function removalOf(context: string, namespace: string): string {
  const at = `kubectl --context=${context} --namespace=${namespace}`;
  const held = `modelbindings.${portcullisGroup},guardrailpolicies.${portcullisGroup} --all`;
  return `${at} annotate ${held} ${confirmDeletionAnnotation}=true; ${at} delete ${held}; ${at} delete namespace ${namespace}`;
}

function namespaceIsThere({ namespace, namespaces }: ClusterSnapshot): string | undefined {
  if (!namespaces.has(namespace)) return undefined;
  return `it has a namespace ${namespace}, and what is in there may be somebody's. Start again: each run takes another name.`;
}

function belongsToOthers({ present }: ClusterSnapshot): string | undefined {
  const theirs = present.filter((one) => !isOfSuite(one));
  const [first] = theirs;
  if (first === undefined) return undefined;
  const owner =
    first.owner === undefined
      ? 'no release of Helm'
      : `the release ${first.owner.release} of the namespace ${first.owner.namespace}`;
  return `${someOf(theirs.map(({ id }) => id))} is there and belongs to ${owner}. An installation that is there is neither upgraded nor removed: name a cluster without Portcullis.`;
}

function runIsThere({ context, present, namespaces }: ClusterSnapshot): string | undefined {
  const place = present.map(({ owner }) => owner?.namespace ?? '').find((name) => namespaces.has(name));
  if (place === undefined) return undefined;
  return `another run of this suite is at work there in the namespace ${place}, or was broken off. Wait for its end; what was broken off is removed by: ${removalOf(context, place)}`;
}

function leftoversAreUsed({ objects }: ClusterSnapshot): string | undefined {
  if (objects.length === 0) return undefined;
  return `its definitions are those that an earlier run of this suite left, and somebody uses them: ${someOf(objects)} is there. Name a cluster without Portcullis.`;
}

function isOfSuite({ owner }: Present): boolean {
  return owner?.release === expectedRelease && namespacePattern.test(owner.namespace);
}

function someOf(names: readonly string[]): string {
  const [first = '', ...rest] = names;
  return rest.length === 0 ? first : `${first} (and ${rest.length} more)`;
}
