import { stringify } from 'yaml';
import { group, kinds } from '#resources/kinds';
import { renderAdmission, renderAuthors, renderRoles } from '../crds/render-admission.ts';
import { renderDefinition } from '../crds/render-definition.ts';

const notice = '# Written by npm run generate from the schemas in libraries/resources/.\n';
/** The chart contains the same files unchanged. */
const chart = 'charts/portcullis/files';

function yamlOf(documents: readonly unknown[]): string {
  return notice + documents.map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
}

/** Definitions, admission policies, those that name authors, and user roles, for kubectl in `crds/` and for the chart. */
export function generate(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const key of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const name = `${group}_${kinds[key].plural}.yaml`;
    const text = yamlOf([renderDefinition(key)]);
    files.set(`crds/${name}`, text).set(`${chart}/crds/${name}`, text);
  }
  const folders = [
    ['admission', renderAdmission()],
    ['authors', renderAuthors()],
    ['roles', renderRoles()],
  ] as const;
  for (const [folder, rendered] of folders) {
    for (const [name, documents] of rendered) {
      const text = yamlOf(documents);
      files.set(`crds/${folder}/${name}`, text).set(`${chart}/${folder}/${name}`, text);
    }
  }
  return files;
}
