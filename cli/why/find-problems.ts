import { adviceFor, isProgress } from '#diagnosis/advice';
import type { BindingDependencies } from '#diagnosis/binding-dependencies';
import { explainAgent } from '#diagnosis/explain-agent';
import { explainAgentVersion } from '#diagnosis/explain-agent-version';
import { explainBinding } from '#diagnosis/explain-binding';
import type { InstallationProblem } from '#diagnosis/surroundings';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { InstallationStatus } from '../status/read-status.ts';
import { explainCollection } from './explain-collection.ts';
import { explainPolicy } from './explain-policy.ts';

/** One problem of an installation with its remedy. */
export type FoundProblem = {
  readonly part: string;
  readonly reason: string;
  readonly message: string;
  readonly whatToDo: string;
};

type Installation = Omit<InstallationStatus, 'namespace'>;

/** Steps of a binding that a faulty process of the installation already explains. */
const explained: Readonly<Record<string, InstallationProblem['component']>> = {
  Operator: 'operator',
  Replica: 'gateway',
};

/**
 * The problems of an installation: first problems of its processes, then one cause for each other resource. The
 * function is pure.
 */
export function findProblems(installation: Installation, program: string): readonly FoundProblem[] {
  const { problems } = installation.surroundings;
  const components = new Set(problems.map(({ component }) => component));
  const ofBindings = installation.bindings.flatMap((binding): readonly FoundProblem[] => {
    const { state, cause, summary, whatToDo } = explainBinding(factsOf(installation, binding), program);
    const { reason } = cause ?? {};
    if (cause === undefined || reason === undefined || whatToDo === undefined) return [];
    if (state === 'deleting' || isProgress(reason)) return [];
    const [step = ''] = cause.part.split(/s?( |$)/);
    const component = explained[step];
    if (component !== undefined && components.has(component)) return [];
    const message = summary.replace(`ModelBinding ${binding.metadata.name} `, 'It ');
    return [{ part: `${kinds.modelBinding.kind} ${binding.metadata.name}`, reason, message, whatToDo }];
  });
  const { policies, collections, agents, agentVersions, surroundings } = installation;
  const declared = [
    // Every other problem of a policy is listed at the bindings that refer to the policy.
    ...policies
      .map((one) => ({
        part: `${kinds.guardrailPolicy.kind} ${one.metadata.name}`,
        ...explainPolicy(one, surroundings, program),
      }))
      .filter(({ cause }) => cause?.part === 'Served'),
    ...collections.map((one) => ({
      part: `${kinds.collection.kind} ${one.metadata.name}`,
      ...explainCollection(one, surroundings, program),
    })),
    // A starting agent waits for its version, which has its own entry.
    ...agents
      .map((one) => ({ part: `${kinds.agent.kind} ${one.metadata.name}`, ...explainAgent(one, surroundings, program) }))
      .filter(({ state }) => state !== 'starting'),
    ...agentVersions.map((one) => ({
      part: `${kinds.agentVersion.kind} ${one.metadata.name}`,
      ...explainAgentVersion(one, surroundings, program),
    })),
  ].flatMap(({ part, cause, summary, whatToDo }): readonly FoundProblem[] => {
    const { reason } = cause ?? {};
    if (cause === undefined || reason === undefined || whatToDo === undefined || isProgress(reason)) return [];
    if (cause.part === 'Operator' && components.has('operator')) return [];
    return [{ part, reason, message: summary.replace(`${part} `, 'It '), whatToDo }];
  });
  return [...problems.map((problem) => withRemedy(problem, program)), ...ofBindings, ...declared];
}

/** A problem of the installation with its remedy. */
export function withRemedy({ part, reason, message }: InstallationProblem, program: string): FoundProblem {
  return { part, reason, message, whatToDo: adviceFor(reason, { program, binding: 'BINDING', policy: 'POLICY' }) };
}

/** The facts of `why`, from a status that was read as a whole. */
function factsOf(installation: Installation, binding: Stored<ModelBinding>): BindingDependencies {
  const { policies, routes, workloads, reports, surroundings } = installation;
  const { guardrail, gateway } = binding.spec;
  const wanted = guardrail.mode === 'Policy' ? guardrail.policyRef.name : undefined;
  const policy = policies.find(({ metadata }) => metadata.name === wanted);
  const route = routes.find(({ metadata }) => metadata.name === binding.metadata.name);
  const named = [route?.spec.workload, binding.status?.workload?.name];
  return {
    binding,
    ...(policy === undefined ? {} : { policy }),
    ...(route === undefined ? {} : { route }),
    workloads: workloads.filter(({ metadata }) => named.includes(metadata.name)),
    reports: reports.filter(({ spec }) => spec.gateway === gateway),
    surroundings,
  };
}

/** One problem as an error message. */
export function causeAndRemedy({ part, message, whatToDo }: FoundProblem): string {
  return `${part}: ${message} ${whatToDo}`;
}

/** The first lines of a status: every problem with its remedy; the cause of other problems is first. */
export function problemsText(problems: readonly FoundProblem[]): string {
  return problems
    .map(({ part, message, whatToDo }) => `Problem: ${part}: ${message}\nWhat to do: ${whatToDo}\n`)
    .join('');
}
