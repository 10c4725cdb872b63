import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { absentResource } from '../resources/absent-resource.ts';

type Loose = Readonly<Record<string, unknown>>;

type RevisionFiller = {
  /** Adds a placeholder for an omitted revision, so that the other members can be validated. */
  readonly complete: (document: unknown) => unknown;
  /** Replaces the placeholder by the newest revision of the policy. */
  readonly fill: <R>(resource: R, client: KubeClient) => Promise<R>;
  /**
   * Fills in the revisions that are recorded now, without waiting; if no revision is recorded, the placeholder is kept.
   */
  readonly fillKnown: <R>(resource: R, client: KubeClient) => Promise<R>;
};

/** A ModelBinding may omit `policyRef.revision`: it then gets the newest revision at the time of the apply. */
export function createRevisionFiller(): RevisionFiller {
  const incomplete = new WeakMap<object, string>();
  return {
    complete(document) {
      const name = policyWithoutRevision(document);
      if (name === undefined) return document;
      const completed = withRevision(document, 1);
      incomplete.set(completed, name);
      return completed;
    },
    async fill(resource, client) {
      const name = typeof resource === 'object' && resource !== null ? incomplete.get(resource) : undefined;
      if (name === undefined) return resource;
      return withRevision(resource, await newestRevision(client, name)) as typeof resource;
    },
    async fillKnown(resource, client) {
      const name = typeof resource === 'object' && resource !== null ? incomplete.get(resource) : undefined;
      if (name === undefined) return resource;
      const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
      const number = policy?.status?.latestRevision?.number;
      return number === undefined ? resource : (withRevision(resource, number) as typeof resource);
    },
  };
}

const recordingMs = 30_000;

/**
 * Waits until the operator has recorded the current spec of a policy, and returns the number of that revision.
 * @throws CliError not_found, refused when the policy is not accepted, timeout
 */
export async function newestRevision(client: KubeClient, name: string): Promise<number> {
  const end = performance.now() + recordingMs;
  for (;;) {
    const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    if (policy === undefined) throw await absentResource(client, kinds.guardrailPolicy, name);
    const { status, metadata } = policy;
    const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
    const isCurrent = accepted?.observedGeneration === metadata.generation;
    if (isCurrent && accepted.status === 'False') {
      throw new CliError('refused', `The GuardrailPolicy ${name} is not accepted: ${accepted.message}`);
    }
    const recorded = status?.observedGeneration === metadata.generation ? status.latestRevision?.number : undefined;
    if (isCurrent && recorded !== undefined) return recorded;
    if (performance.now() > end) {
      throw new CliError('timeout', `The GuardrailPolicy ${name} was not recorded within ${recordingMs / 1_000} s.`);
    }
    await delay(100);
  }
}

function policyWithoutRevision(document: unknown): string | undefined {
  const { kind, spec } = loose(document);
  const { mode, policyRef } = loose(loose(spec)['guardrail']);
  const { name, revision } = loose(policyRef);
  return kind === 'ModelBinding' && mode === 'Policy' && typeof name === 'string' && revision === undefined
    ? name
    : undefined;
}

function withRevision(document: unknown, revision: number): object {
  const spec = loose(loose(document)['spec']);
  const guardrail = loose(spec['guardrail']);
  const policyRef = { ...loose(guardrail['policyRef']), revision };
  return { ...loose(document), spec: { ...spec, guardrail: { ...guardrail, policyRef } } };
}

function loose(value: unknown): Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {};
}
