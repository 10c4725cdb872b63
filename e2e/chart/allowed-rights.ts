/**
 * Every right of a Portcullis process, by component, as `group/resource names: verbs`. A review that adds a right must
 * name the call that needs it.
 */
export const allowedRights: Readonly<Record<string, readonly string[]>> = {
  operator: [
    '/configmaps: create delete get list patch watch',
    '/pods: get list watch',
    '/services: create delete get list patch watch',
    'apps/deployments: create delete get list patch watch',
    'coordination.k8s.io/leases portcullis-operator: get list patch watch',
    'coordination.k8s.io/leases: create',
    'discovery.k8s.io/endpointslices: list watch',
    'events.k8s.io/events: create patch',
    'networking.k8s.io/networkpolicies: create delete get list patch watch',
    'policy/poddisruptionbudgets: create delete get list patch watch',
    'portcullis.dev/agentroutes: create delete get list patch watch',
    'portcullis.dev/agents/status: patch',
    'portcullis.dev/agents: get list patch watch',
    'portcullis.dev/agentversions/status: patch',
    'portcullis.dev/agentversions: get list patch watch',
    'portcullis.dev/collections/status: patch',
    'portcullis.dev/collections: get list patch watch',
    'portcullis.dev/gatewayreports: delete get list watch',
    'portcullis.dev/gatewayroutes: create delete get list patch watch',
    'portcullis.dev/gatewayroutes: operate',
    'portcullis.dev/guardrailpolicies/status: patch',
    'portcullis.dev/guardrailpolicies: create',
    'portcullis.dev/guardrailpolicies: get list patch watch',
    'portcullis.dev/guardrailpolicies: state-author',
    'portcullis.dev/modelbindings/status: patch',
    'portcullis.dev/modelbindings: get list patch watch',
    'portcullis.dev/policyrevisions: create get list patch watch',
    'portcullis.dev/runtimeworkloads/status: patch',
    'portcullis.dev/runtimeworkloads: create delete get list patch watch',
  ],
  gateway: ['portcullis.dev/gatewayreports: create get patch', 'portcullis.dev/gatewayroutes: list watch'],
  /** The gateway of an installation with agents. */
  'gateway of agents': [
    'portcullis.dev/agentroutes: list watch',
    'portcullis.dev/gatewayreports: create get patch',
    'portcullis.dev/gatewayroutes: list watch',
  ],
  management: [
    '/pods: get list watch',
    'portcullis.dev/agents: list watch',
    'portcullis.dev/agentversions: get list',
    'portcullis.dev/gatewayreports: list watch',
    'portcullis.dev/gatewayroutes: get list watch',
    'portcullis.dev/guardrailpolicies: create get list patch watch',
    'portcullis.dev/guardrailpolicies: state-author',
    'portcullis.dev/modelbindings: get list patch watch',
    'portcullis.dev/policyrevisions: create get list patch watch',
    'portcullis.dev/runtimeworkloads: list',
  ],
  /** The only process of the catalogue that follows the resources; the API process has no rights. */
  'catalogue-worker': [
    'portcullis.dev/agentroutes: list watch',
    'portcullis.dev/agents: get list watch',
    'portcullis.dev/agentversions: get list watch',
  ],
  example: ['portcullis.dev/guardrailpolicies: create get', 'portcullis.dev/modelbindings: create get'],
};

/** The resources of a component, as `group/resource`. */
export function allowedResources(component: string): readonly string[] {
  const names = (allowedRights[component] ?? []).map((line) => line.split(':')[0]?.split(' ')[0] ?? '');
  return [...new Set(names)].toSorted();
}

/** Rights that admission policies ask for; no request needs them. */
const askedByPolicies: readonly string[] = ['operate', 'state-author'];

/** Every request that a component is allowed, as `verb group/resource`. */
export function allowedRequests(component: string): readonly string[] {
  return (allowedRights[component] ?? [])
    .flatMap((line) => {
      const [resource = '', verbs = ''] = line.split(': ');
      const requested = verbs.split(' ').filter((verb) => !askedByPolicies.includes(verb));
      return requested.map((verb) => `${verb} ${resource.split(' ')[0]}`);
    })
    .toSorted();
}
