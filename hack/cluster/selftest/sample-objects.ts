/** A pod of this checkout's image that runs a script and satisfies the restricted Pod Security Standard. */
export function scriptPod(image: string, script: string, volume?: { readonly claim: string; readonly path: string }) {
  const mounts = volume === undefined ? [] : [{ name: volume.claim, mountPath: volume.path }];
  return {
    securityContext: {
      runAsNonRoot: true,
      fsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'script',
        image,
        imagePullPolicy: 'IfNotPresent',
        args: ['--eval', script],
        securityContext: {
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: mounts,
      },
    ],
  };
}

export function pod(name: string, spec: object): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec };
}

/** @param type ClusterIP or NodePort */
export function service(name: string, type: string): object {
  const ports = [{ port: 80, targetPort: 8_080 }];
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { type, selector: { app: name }, ports } };
}

/** One pod with a volume claim of 1 GiB of the default storage class. */
export function statefulSet(name: string, spec: object): object {
  const labels = { app: name };
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
      volumeClaimTemplates: [claim],
    },
  };
}
