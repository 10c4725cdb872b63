import { group, kinds } from './kinds.ts';

/** A rule of a ClusterRole on our own kinds. */
export type RoleRule = { readonly resources: readonly string[]; readonly verbs: readonly string[] };

export type UserRole = {
  readonly name: string;
  readonly description: string;
  /** The built-in roles that take this one in. */
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
/** What became of earlier applications stands in a status, and cannot be observed again. */
const restoring: RoleRule = { resources: [`${kinds.modelBinding.plural}/status`], verbs: ['patch'] };

/** Roles for people on the kinds of the group; the roles of our own processes are the chart's. */
export const roleGroup = group;
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
    description:
      'Writes and removes every resource, those too that Portcullis writes: for restoring a backup and for repairs.',
    aggregatedTo: [],
    rules: [viewing, { resources: [...written, ...internal], verbs: [...write, 'deletecollection'] }, restoring],
  },
];
