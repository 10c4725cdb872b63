/** Label with the name of the workload, on the objects and pods of one version of an agent. */
export const agentWorkloadLabel = 'portcullis.dev/agent-workload';
/** Annotation with the name of the AgentVersion, which may be longer than the value of a label. */
export const agentVersionAnnotation = 'portcullis.dev/agent-version';

/** Labels of every object of every agent; the NetworkPolicies of the chart select pods by them. */
export const agentPodLabels = {
  'app.kubernetes.io/name': 'portcullis-agent',
  'app.kubernetes.io/component': 'agent',
  'app.kubernetes.io/part-of': 'portcullis',
  'app.kubernetes.io/managed-by': 'portcullis-operator',
} as const;

/** Selects the objects of all agents. */
export const agentsSelector = [
  `app.kubernetes.io/name=${agentPodLabels['app.kubernetes.io/name']}`,
  `app.kubernetes.io/managed-by=${agentPodLabels['app.kubernetes.io/managed-by']}`,
].join(',');

/** Selects the pods of one workload. Selectors are immutable. */
export function agentSelector(workload: string): Readonly<Record<string, string>> {
  return { [agentWorkloadLabel]: workload };
}

/** The labels of an object of a workload. Labels of the environment do not override them. */
export function agentLabels(
  workload: string,
  added: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...added, ...agentPodLabels, ...agentSelector(workload) };
}
