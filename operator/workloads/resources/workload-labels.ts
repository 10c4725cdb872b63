/** Label of the objects and pods of one workload. */
export const workloadLabel = 'portcullis.dev/workload';

/** Labels of every object of every workload. */
const common = {
  'app.kubernetes.io/name': 'portcullis-runtime',
  'app.kubernetes.io/component': 'runtime',
  'app.kubernetes.io/part-of': 'portcullis',
  'app.kubernetes.io/managed-by': 'portcullis-operator',
} as const;

/** Selects the objects of all workloads. */
export const workloadsSelector = [
  `app.kubernetes.io/name=${common['app.kubernetes.io/name']}`,
  `app.kubernetes.io/managed-by=${common['app.kubernetes.io/managed-by']}`,
].join(',');

/** Selects the pods of one workload. Selectors are immutable. */
export function podLabels(workload: string): Readonly<Record<string, string>> {
  return { [workloadLabel]: workload };
}

/** The labels of an object of a workload. Labels of the environment do not override them. */
export function workloadLabels(
  workload: string,
  added: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...added, ...common, ...podLabels(workload) };
}
