import { fileURLToPath } from 'node:url';

/** Programs built from one Go module in hack/cluster/tools, whose go.sum pins every version. */
export type GoModule = {
  readonly name: string;
  /** Folder of the Go module. */
  readonly folder: string;
  /** The name of each program, and the Go package from which the program is built. */
  readonly programs: Readonly<Record<string, string>>;
  /** Variables that the linker sets with its option -X. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * True for programs whose speed no figure measures: the compiler leaves out its optimizations, which takes about
   * half the time. Modules with common packages have the same value, because Go's cache keeps each form apart.
   */
  readonly isPlain?: true;
};

/** The version of Kubernetes that go.mod names; a test compares both. */
export const kubernetesVersion = 'v1.36.3';

const folderOf = (name: string): string => fileURLToPath(new URL(`../tools/${name}`, import.meta.url));
const command = (name: string): string => `k8s.io/kubernetes/cmd/${name}`;

const kubernetes: GoModule = {
  name: 'kubernetes',
  folder: folderOf('kubernetes'),
  programs: {
    etcd: './etcd',
    'kube-apiserver': command('kube-apiserver'),
    'kube-controller-manager': command('kube-controller-manager'),
    'kube-scheduler': command('kube-scheduler'),
    kubelet: command('kubelet'),
    'kube-proxy': command('kube-proxy'),
    kubectl: command('kubectl'),
  },
  // Without these variables the API server reports the version v0.0.0, which Helm and clients refuse.
  variables: {
    'k8s.io/component-base/version.gitVersion': kubernetesVersion,
    'k8s.io/component-base/version.gitMajor': '1',
    'k8s.io/component-base/version.gitMinor': '36',
  },
};

const coredns: GoModule = {
  name: 'coredns',
  folder: folderOf('coredns'),
  programs: { coredns: '.' },
  variables: {},
};

const localVolumes: GoModule = {
  name: 'local-volumes',
  folder: folderOf('local-volumes'),
  programs: { 'local-volumes': '.' },
  variables: {},
};

const helm: GoModule = {
  name: 'helm',
  folder: folderOf('helm'),
  programs: { helm: 'helm.sh/helm/v4/cmd/helm' },
  variables: {},
  isPlain: true,
};

const kwok: GoModule = {
  name: 'kwok',
  folder: folderOf('kwok'),
  programs: { kwok: 'sigs.k8s.io/kwok/cmd/kwok' },
  variables: {},
};

const kind: GoModule = {
  name: 'kind',
  folder: folderOf('kind'),
  programs: { kind: 'sigs.k8s.io/kind' },
  variables: {},
};

const openfga: GoModule = {
  name: 'openfga',
  folder: folderOf('openfga'),
  programs: { openfga: 'github.com/openfga/openfga/cmd/openfga' },
  variables: {},
  isPlain: true,
};

const nats: GoModule = {
  name: 'nats',
  folder: folderOf('nats'),
  programs: { 'nats-server': 'github.com/nats-io/nats-server/v2' },
  variables: {},
  isPlain: true,
};

const minio: GoModule = {
  name: 'minio',
  folder: folderOf('minio'),
  programs: { minio: 'github.com/minio/minio' },
  variables: {},
  isPlain: true,
};

export const goModules: readonly GoModule[] = [
  kubernetes,
  coredns,
  localVolumes,
  helm,
  kwok,
  kind,
  openfga,
  nats,
  minio,
];
