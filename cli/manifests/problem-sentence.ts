import type { ManifestProblem } from '#kube/apply/read-manifests';

/** `FILE: document 2, line 7: spec.model.alias is required`. */
export function problemSentence(source: string, { document, line, field, message }: ManifestProblem): string {
  const parts = [document === 0 ? '' : `document ${document}`, line === undefined ? '' : `line ${line}`];
  const place = parts.filter((part) => part !== '').join(', ');
  return [source, place, field === '' ? message : `${field} ${message}`].filter((part) => part !== '').join(': ');
}
