/** The API group of all resources. */
export const group = 'portcullis.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

/** A kind of resource as its REST path and its manifests name it. */
export type Kind = {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** Internal kinds are written by the operator, the gateways and the management API only. */
  readonly internal: boolean;
  /** API group; absent for a kind of ours, empty for the core group. */
  readonly group?: string;
  /** Version within a group that is not ours. */
  readonly version?: string;
  /** Whether reads ask for the metadata alone: of objects whose content is large and not looked at. */
  readonly metadataOnly?: true;
};

export const kinds = {
  guardrailPolicy: { kind: 'GuardrailPolicy', plural: 'guardrailpolicies', shortNames: ['gp'], internal: false },
  policyRevision: { kind: 'PolicyRevision', plural: 'policyrevisions', shortNames: ['gprev'], internal: true },
  modelBinding: { kind: 'ModelBinding', plural: 'modelbindings', shortNames: ['mb'], internal: false },
  runtimeWorkload: { kind: 'RuntimeWorkload', plural: 'runtimeworkloads', shortNames: ['rwl'], internal: true },
  gatewayRoute: { kind: 'GatewayRoute', plural: 'gatewayroutes', shortNames: ['gwr'], internal: true },
  gatewayReport: { kind: 'GatewayReport', plural: 'gatewayreports', shortNames: ['gwrep'], internal: true },
} as const satisfies Record<string, Kind>;

/** Label that carries the id of the management API (UUIDv7); set once. */
export const idLabel = `${group}/id`;
/** Annotation by which a watched folder knows what it applied: SHA-256 of the YAML document. */
export const appliedHashAnnotation = `${group}/applied-hash`;
/** Annotation of a restored object: its creationTimestamp before the backup. */
export const createdAnnotation = `${group}/created`;
/** Finalizer of the operator on policies and bindings. */
export const operatorFinalizer = `${group}/operator`;
