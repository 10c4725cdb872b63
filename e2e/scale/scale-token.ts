/** The service token of the workloads that are pretended. */
export const scaleToken = 'token-of-pretended-workloads';
