/** Descriptions of the options that name the management API of a cluster: kubectl has no address of it. */
export const managementOrigin =
  'origin of the management API; "kubectl port-forward service/portcullis-management 8081:80" makes it http://127.0.0.1:8081';

export const administratorToken = 'file with a platform token of an administrator';
