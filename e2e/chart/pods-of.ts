import type { Rendered } from './tools/render-chart.ts';

type Labels = Readonly<Record<string, string>>;
type Probe = { readonly httpGet: { readonly port: string; readonly path: string } };
type Variable = { readonly name: string; readonly value?: string };
type Mount = {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
};
type Volume = {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  readonly configMap?: { readonly name: string };
  readonly emptyDir?: { readonly sizeLimit: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
};
/** A template from which a claim is created for each pod. */
type ClaimTemplate = { readonly metadata: { readonly name: string }; readonly spec: unknown };

export type RenderedContainer = {
  readonly image: string;
  readonly command: readonly string[];
  readonly env: readonly Variable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: unknown;
  readonly resources: unknown;
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts?: readonly Mount[];
};

type PodSpec = {
  readonly containers: readonly RenderedContainer[];
  readonly volumes?: readonly Volume[];
  readonly securityContext: unknown;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly terminationGracePeriodSeconds?: number;
};

/** A pod of the chart, or a pod that an object of the chart creates. */
export type RenderedPod = {
  /** Name of the object that creates the pod. */
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly spec: PodSpec;
  readonly claims: readonly ClaimTemplate[];
  /** Whether the pod runs as long as the release is installed. */
  readonly isLasting: boolean;
};

type Template = {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: PodSpec;
};

/** The pods of rendered objects. @throws for an unknown kind with a pod template */
export function podsOf(objects: readonly Rendered[]): readonly RenderedPod[] {
  return objects.flatMap((object) => {
    const { kind, metadata } = object;
    const template = templateOf(object);
    if (template === undefined) return [];
    const { labels = {}, annotations = {} } = template.metadata ?? {};
    const { volumeClaimTemplates: claims = [] } = object['spec'] as { volumeClaimTemplates?: readonly ClaimTemplate[] };
    const isLasting = kind === 'Deployment' || kind === 'StatefulSet';
    return [{ name: metadata.name, labels, annotations, spec: template.spec, claims, isLasting }];
  });
}

function templateOf({ kind, metadata, spec }: Rendered): Template | undefined {
  switch (kind) {
    case 'Pod':
      return { metadata, spec: spec as PodSpec };
    case 'Deployment':
    case 'StatefulSet':
    case 'Job':
      return (spec as { readonly template: Template }).template;
    case 'DaemonSet':
    case 'CronJob':
    case 'ReplicaSet':
      throw new TypeError(`the pods of a ${kind} are not examined`);
    default:
      return undefined;
  }
}
