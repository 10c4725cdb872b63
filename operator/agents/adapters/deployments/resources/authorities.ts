import type { AgentTemplate } from '../../../../environment/agent-template.ts';

type Authorities = Pick<AgentTemplate, 'authoritiesConfigMap'>;

const name = 'authorities';
const key = 'ca.crt';
/** The path at which pods of agents mount the certificates of the authorities, which Node.js reads at its start. */
const mountPath = `/etc/portcullis/${name}`;

export function authoritiesEnvironment({ authoritiesConfigMap }: Authorities) {
  return authoritiesConfigMap === undefined ? [] : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${mountPath}/${key}` }];
}

export function authoritiesVolumes({ authoritiesConfigMap }: Authorities) {
  if (authoritiesConfigMap === undefined) return [];
  return [{ name, configMap: { name: authoritiesConfigMap, items: [{ key, path: key }], defaultMode: 0o444 } }];
}

export function authoritiesMounts({ authoritiesConfigMap }: Authorities) {
  return authoritiesConfigMap === undefined ? [] : [{ name, mountPath, readOnly: true }];
}
