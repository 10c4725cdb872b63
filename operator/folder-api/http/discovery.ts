import { apiVersion, group, kinds, version } from '#resources/kinds';

const preferred = { groupVersion: apiVersion, version };
const apiGroup = {
  name: group,
  versions: [preferred],
  preferredVersion: preferred,
};

const objectVerbs = ['create', 'delete', 'get', 'list', 'patch', 'watch'];
const statusVerbs = ['get', 'patch'];

/** Discovery documents for generic clients, by path. */
export const discoveryDocuments: ReadonlyMap<string, object> = new Map<string, object>([
  ['/version', { major: '1', minor: '34', gitVersion: 'v1.34.0+portcullis', platform: 'portcullis/folder' }],
  ['/api', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }],
  ['/api/v1', { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'v1', resources: [] }],
  ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: [apiGroup] }],
  [`/apis/${group}`, { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup }],
  [
    `/apis/${apiVersion}`,
    {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersion,
      resources: Object.values(kinds).flatMap(({ kind, plural, shortNames }) => [
        { name: plural, singularName: kind.toLowerCase(), namespaced: true, kind, verbs: objectVerbs, shortNames },
        { name: `${plural}/status`, singularName: '', namespaced: true, kind, verbs: statusVerbs },
      ]),
    },
  ],
  ['/openapi/v2', { swagger: '2.0', info: { title: 'Portcullis resources', version }, paths: {} }],
  ['/openapi/v3', { paths: {} }],
]);
