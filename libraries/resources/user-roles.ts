import { restoreVerb } from './admission-rules.ts';
import { kinds } from './kinds.ts';

/** A rule of a ClusterRole on the kinds of Portcullis. */
type RoleRule = { readonly resources: readonly string[]; readonly verbs: readonly string[] };

export type UserRole = {
  readonly name: string;
  readonly description: string;
  /** The built-in roles that this one is aggregated to. */
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
 * Outcomes of earlier applications are part of a status and cannot be observed again. Routes and workloads of a backup
 * are created, and never changed, by a holder of the second right.
 */
const restoring: readonly RoleRule[] = [
  { resources: [`${kinds.modelBinding.plural}/status`], verbs: ['patch'] },
  { resources: [kinds.gatewayRoute.plural], verbs: [restoreVerb] },
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
    name: 'portcullis-editor',
    description: 'Writes policies and bindings, and reads the rest. For tenants.',
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
