/** The security context of a pod in a namespace that enforces the Pod Security Standard `restricted`. */
export const testPodSecurity = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  fsGroup: 65_532,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;
