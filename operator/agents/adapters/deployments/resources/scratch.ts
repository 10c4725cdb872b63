const name = 'tmp';

/** The only folder that the process of a pod can write. */
export const scratchMount = { name, mountPath: '/tmp' } as const;

/** An empty folder for the life of the pod, which the kubelet ends if it holds more. */
export function scratchVolume(sizeLimit: string) {
  return { name, emptyDir: { sizeLimit } };
}
