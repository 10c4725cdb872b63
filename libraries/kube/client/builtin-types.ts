import type { Condition } from '#resources/metadata';
import type { KubeObject } from './kube-object.ts';

/**
 * Built-in objects, limited to the members that Portcullis reads or writes; objects of a server have more. Members that
 * only a server sets are optional. Names and meanings are those of the Kubernetes API reference.
 */

type Labels = Readonly<Record<string, string>>;
type LabelSelector = { readonly matchLabels?: Labels; readonly matchExpressions?: readonly object[] };
type IntOrString = number | string;

export type ConfigMap = Omit<KubeObject, 'spec' | 'status'> & {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
};

type ServicePort = {
  readonly name?: string;
  readonly port: number;
  readonly targetPort?: IntOrString;
  readonly protocol?: string;
};
export type Service = KubeObject & {
  readonly spec: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Labels;
    readonly ports?: readonly ServicePort[];
  };
};

export type EndpointSlice = Omit<KubeObject, 'spec' | 'status'> & {
  readonly addressType: string;
  /** The endpoints; null if the Service selects no pod. */
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        readonly conditions?: { readonly ready?: boolean };
        readonly targetRef?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
      }[]
    | null;
};

/** A condition of a built-in object; observedGeneration, reason, message and time may be absent. */
export type BuiltinCondition = Pick<Condition, 'type' | 'status'> & Partial<Omit<Condition, 'type' | 'status'>>;

type ContainerState = {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason?: string;
    /** The first 4,096 bytes of the termination message. */
    readonly message?: string;
  };
};
export type ContainerStatus = {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
};
type PodSpec = {
  readonly containers: readonly {
    readonly name: string;
    readonly image?: string;
    readonly [member: string]: unknown;
  }[];
  readonly nodeName?: string;
  readonly [member: string]: unknown;
};
export type Pod = KubeObject & {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    readonly podIP?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly BuiltinCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
};

export type Deployment = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: {
      readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
      readonly spec: PodSpec;
    };
    readonly [member: string]: unknown;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly conditions?: readonly BuiltinCondition[];
  };
};

export type StatefulSet = KubeObject & {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
};

export type PersistentVolumeClaim = KubeObject & {
  readonly spec: { readonly storageClassName?: string };
  readonly status?: { readonly phase?: 'Pending' | 'Bound' | 'Lost' };
};

/** An Event of the core group, which the controllers and kubelets of Kubernetes write. */
export type CoreEvent = Omit<KubeObject, 'spec' | 'status'> & {
  readonly involvedObject: { readonly kind?: string; readonly name?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
};

export type PodDisruptionBudget = KubeObject & {
  readonly spec: {
    readonly selector?: LabelSelector;
    readonly maxUnavailable?: IntOrString;
    readonly unhealthyPodEvictionPolicy?: string;
  };
};

export type NetworkPolicy = KubeObject & {
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly object[];
    readonly egress?: readonly object[];
  };
};

/** Times are MicroTime: RFC 3339 with six digits of a second. */
export type Lease = KubeObject & {
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
};

type ObjectReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
};
/** An Event of events.k8s.io/v1. `note` is at most 1,024 bytes, `reason` and `action` at most 128 characters. */
export type Event = Omit<KubeObject, 'spec' | 'status'> & {
  readonly eventTime: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note?: string;
  readonly regarding: ObjectReference;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
};
