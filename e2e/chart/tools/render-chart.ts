import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { chartFolder, helmOk } from './helm.ts';

export const release = 'guardrails';
const namespace = 'safety';

type Labels = Readonly<Record<string, string>>;
/** The members of a rendered object that the tests read; the API server validates the other members. */
export type Rendered = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  readonly [member: string]: unknown;
};

/** Names of the values files that the chart is tested with. */
export const valuesFiles: readonly string[] = readdirSync(join(chartFolder, 'ci')).toSorted();

export function valuesPath(name: string): string {
  return join(chartFolder, 'ci', name);
}

/** Helm without a cluster renders the policies that name users only where it is told that the cluster serves them. */
export const servesAuthors = '--api-versions=admissionregistration.k8s.io/v1/MutatingAdmissionPolicy';

const rendered = new Map<string, Promise<readonly Rendered[]>>();

/** The objects, including hooks, that Helm renders from the chart and a values file; rendered once. */
export function renderFile(name: string): Promise<readonly Rendered[]> {
  const known = rendered.get(name) ?? renderChart(['--values', valuesPath(name)]);
  rendered.set(name, known);
  return known;
}

/** The objects that Helm renders from the chart with the given arguments. */
export async function renderChart(args: readonly string[]): Promise<readonly Rendered[]> {
  const text = await helmOk(['template', release, chartFolder, '--namespace', namespace, ...args]);
  return parseManifest(text);
}

export function parseManifest(text: string): readonly Rendered[] {
  return parseAllDocuments(text, { version: '1.1', uniqueKeys: true }).flatMap((document) => {
    if (document.errors.length > 0)
      throw new Error(`the rendered manifest is not YAML: ${document.errors[0]?.message}`);
    const value = document.toJS() as Rendered | null;
    return value === null ? [] : [value];
  });
}

/** Path of a file for kubectl and Helm. */
export function ofKind(objects: readonly Rendered[], ...kinds: readonly string[]): readonly Rendered[] {
  return objects.filter(({ kind }) => kinds.includes(kind));
}
