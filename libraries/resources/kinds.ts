/** The API group of all resources. */
export const group = 'portcullis.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

/** A resource kind with the names in its REST path and manifests. */
export type Kind = {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** Whether only the operator, the gateways and the management API write objects of this kind. */
  readonly internal: boolean;
  /** API group; absent for a Portcullis kind, empty for the core group. */
  readonly group?: string;
  /** Version within another API group. */
  readonly version?: string;
  /** Reads request only the metadata, for objects with large content that is not needed. */
  readonly metadataOnly?: true;
};

export const kinds = {
  guardrailPolicy: { kind: 'GuardrailPolicy', plural: 'guardrailpolicies', shortNames: ['gp'], internal: false },
  policyRevision: { kind: 'PolicyRevision', plural: 'policyrevisions', shortNames: ['gprev'], internal: true },
  modelBinding: { kind: 'ModelBinding', plural: 'modelbindings', shortNames: ['mb'], internal: false },
  runtimeWorkload: { kind: 'RuntimeWorkload', plural: 'runtimeworkloads', shortNames: ['rwl'], internal: true },
  gatewayRoute: { kind: 'GatewayRoute', plural: 'gatewayroutes', shortNames: ['gwr'], internal: true },
  gatewayReport: { kind: 'GatewayReport', plural: 'gatewayreports', shortNames: ['gwrep'], internal: true },
  collection: { kind: 'Collection', plural: 'collections', shortNames: ['coll'], internal: false },
  agentVersion: { kind: 'AgentVersion', plural: 'agentversions', shortNames: ['agv'], internal: false },
  agent: { kind: 'Agent', plural: 'agents', shortNames: ['ag'], internal: false },
  agentRoute: { kind: 'AgentRoute', plural: 'agentroutes', shortNames: ['agr'], internal: true },
} as const satisfies Record<string, Kind>;

/** Label with the id of the management API (UUIDv7); set once. */
export const idLabel = `${group}/id`;
/** Annotation with the SHA-256 of the YAML document that a watched folder applied last. */
export const appliedHashAnnotation = `${group}/applied-hash`;
/** Annotation of a restored object: its creationTimestamp before the backup. */
export const createdAnnotation = `${group}/created`;
/**
 * Annotation of a restored Collection: the UID of the resource that declared its collection first. A user with the
 * right to restore sets it when the object is created; it never changes.
 */
export const restoredUidAnnotation = `${group}/restored-uid`;
/**
 * Annotation with the user who wrote the current spec, as the API server knows that user. `author-rules.ts` sets it; it is
 * true only where these rules are in force.
 */
export const writtenByAnnotation = `${group}/written-by`;
/** The same of a ModelBinding, for the newest change that requests an application. */
export const appliedByAnnotation = `${group}/applied-by`;
/** Finalizer of the operator on policies, bindings, collections, agents and their versions. */
export const operatorFinalizer = `${group}/operator`;
/**
 * Annotation that confirms, set in the same change, that a ModelBinding loses its guardrail. Its value comes from
 * `confirmationOf`, so that it confirms only the change of one generation.
 */
export const confirmUnguardedAnnotation = `${group}/confirm-unguarded`;
/**
 * Annotation that confirms the deletion of an object that protects a model: `true` from a user, the value of
 * `confirmationOf` from a command, which confirms only a deletion of one resource version.
 */
export const confirmDeletionAnnotation = `${group}/confirm-deletion`;
/**
 * Annotation of a GuardrailPolicy under deletion that cancels the deletion: its value is the deletionTimestamp, so
 * that it concerns this deletion and no other.
 */
export const keepAnnotation = `${group}/keep`;
/** Label and annotation of the PolicyRevision from which a kept policy is created again. */
export const restoreMark = `${group}/restore`;
