import type { ManifestProblem } from '#kube/apply/read-manifests';

/** `FILE: document 2, line 7, column 3: spec.model.alias is required`. */
export function problemSentence(source: string, problem: ManifestProblem): string {
  const { document, line, column, field, message } = problem;
  const parts = [
    document === 0 ? '' : `document ${document}`,
    line === undefined ? '' : `line ${line}`,
    column === undefined ? '' : `column ${column}`,
  ];
  const place = parts.filter((part) => part !== '').join(', ');
  return [source, place, field === '' ? message : `${field} ${message}`].filter((part) => part !== '').join(': ');
}
