/** The service token of the simulated workloads. */
export const scaleToken = 'token-of-pretended-workloads';
