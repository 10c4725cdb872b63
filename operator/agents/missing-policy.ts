import type { VersionBundle } from './agent-bundle.ts';
import type { AgentHostProblem } from './ports.ts';

/** Returns the revision of a served policy; undefined while no revision is served. */
export type ServedRevision = (policy: string) => string | undefined;

/** The policies that check texts of a version, each once, sorted. */
export function policiesOf({ guardrails, requires }: VersionBundle): readonly string[] {
  const named = [guardrails.input, guardrails.output].flatMap((one) => (one === 'None' ? [] : [one.name]));
  const required = requires.flatMap(({ kind, name }) => (kind === 'policy' ? [name] : []));
  return [...new Set([...named, ...required])].toSorted();
}

/** Why no process of a version is started: a policy that it names is not served with the revision that it fixes. */
export function missingPolicy(bundle: VersionBundle, servedRevision: ServedRevision): AgentHostProblem | undefined {
  const { input, output } = bundle.guardrails;
  const revisions = new Map([input, output].flatMap((one) => (one === 'None' ? [] : [[one.name, one.revision]])));
  for (const policy of policiesOf(bundle)) {
    const served = servedRevision(policy);
    const revision = revisions.get(policy);
    if (served !== undefined && (revision === undefined || served === String(revision))) continue;
    const which = revision === undefined ? `the policy ${policy}` : `revision ${revision} of the policy ${policy}`;
    return { reason: 'PolicyNotServed', message: `${which} is not served: add it to the served policies` };
  }
  return undefined;
}
