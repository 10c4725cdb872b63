import { restoreVerb } from './admission-rules.ts';
import { kinds } from './kinds.ts';

/** A rule of a ClusterRole for kinds of Portcullis, or for kinds of another API group; '' is the core group. */
type RoleRule = {
  readonly apiGroup?: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

export type UserRole = {
  readonly name: string;
  readonly description: string;
  /** The built-in roles to which this role is aggregated. */
  readonly aggregatedTo: readonly ('view' | 'edit')[];
  readonly rules: readonly RoleRule[];
};

const all = Object.values(kinds).map(({ plural }) => plural);
const written = Object.values(kinds).flatMap(({ internal, plural }) => (internal ? [] : [plural]));
const internal = Object.values(kinds).flatMap(({ internal: isInternal, plural }) => (isInternal ? [plural] : []));

const read = ['get', 'list', 'watch'];
const write = ['create', 'update', 'patch', 'delete'];

const viewing: RoleRule = { resources: all, verbs: read };
const editing: RoleRule = { resources: written, verbs: write };
/**
 * The status includes the outcomes of earlier applications, which cannot be observed again. A holder of the second
 * right can create routes and workloads of a backup but not change them.
 */
const restoring: readonly RoleRule[] = [
  { resources: [`${kinds.modelBinding.plural}/status`], verbs: ['patch'] },
  { resources: [kinds.gatewayRoute.plural], verbs: [restoreVerb] },
];

/** The objects of the processes that the commands status, why and logs of the kubectl plugin read. */
const processes: readonly RoleRule[] = [
  { apiGroup: '', resources: ['pods', 'events', 'persistentvolumeclaims'], verbs: read },
  { apiGroup: '', resources: ['pods/log'], verbs: ['get'] },
  { apiGroup: 'apps', resources: ['deployments', 'statefulsets'], verbs: read },
  { apiGroup: 'coordination.k8s.io', resources: ['leases'], verbs: read },
];

/** Roles of users; the roles of the processes are in the chart. */
export const userRoles: readonly UserRole[] = [
  {
    name: 'portcullis-viewer',
    description: 'Reads every resource of Portcullis.',
    aggregatedTo: ['view'],
    rules: [viewing],
  },
  {
    name: 'portcullis-process-viewer',
    description:
      'Reads pods with their logs, and what explains why they do not run: for kubectl portcullis status, why, logs.',
    // The built-in roles hold these rights already.
    aggregatedTo: [],
    rules: processes,
  },
  {
    name: 'portcullis-editor',
    description: 'Writes policies, bindings, collections, agents and their versions, and reads the rest. For tenants.',
    aggregatedTo: ['edit'],
    rules: [viewing, editing],
  },
  {
    name: 'portcullis-admin',
    description: 'Writes and removes every resource, including internal ones: for restoring a backup and for repairs.',
    aggregatedTo: [],
    rules: [viewing, { resources: [...written, ...internal], verbs: [...write, 'deletecollection'] }, ...restoring],
  },
];
