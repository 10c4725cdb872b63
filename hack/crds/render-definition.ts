import { group, type Kind, kinds, version } from '#resources/kinds';
import { category, presentations } from '#resources/presentation';
import { resourceSchemas } from '#resources/schemas';
import { atomicMembers, validationRules } from '#resources/validation-rules';
import { type StructuralSchema, structuralSchema } from './structural-schema.ts';

type KindKey = keyof typeof kinds;

export const partOf = { 'app.kubernetes.io/part-of': 'portcullis' };
/** Helm keeps such an object when a release is uninstalled: deleting a definition would delete every resource of it. */
const keep = { 'helm.sh/resource-policy': 'keep' };

/** The schema of a whole resource of one kind, without the members that every resource has. */
export function resourceStructure(key: KindKey): StructuralSchema {
  const { description, spec, status } = presentations[key];
  const { spec: specSchema, status: statusSchema } = resourceSchemas[key].shape;
  const whole: StructuralSchema = {
    description,
    type: 'object',
    required: ['spec'],
    properties: { spec: { description: spec, ...structuralSchema(specSchema) } },
  };
  if (status !== undefined && whole.properties !== undefined) {
    whole.properties.status = { description: status, ...structuralSchema(statusSchema.unwrap()) };
    keyConditions(whole.properties.status);
  }
  for (const { at, ...rule } of validationRules[key]) {
    const node = memberAt(whole, at);
    node['x-kubernetes-validations'] = [...(node['x-kubernetes-validations'] ?? []), rule];
  }
  for (const at of atomicMembers[key]) memberAt(whole, at)['x-kubernetes-map-type'] = 'atomic';
  return whole;
}

/** Conditions are the only list with more than one writer. */
function keyConditions(status: StructuralSchema): void {
  const conditions = memberAt(status, 'conditions');
  conditions['x-kubernetes-list-type'] = 'map';
  conditions['x-kubernetes-list-map-keys'] = ['type'];
}

function memberAt(schema: StructuralSchema, path: string): StructuralSchema {
  return path.split('.').reduce((node, name) => {
    const member = node.properties?.[name];
    if (member === undefined) throw new TypeError(`there is no ${name} in ${path}`);
    return member;
  }, schema);
}

/** The CustomResourceDefinition of one kind. */
export function renderDefinition(key: KindKey) {
  const { kind, plural, shortNames }: Kind = kinds[key];
  const { columns, selectableFields, status } = presentations[key];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: partOf, annotations: keep },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        categories: [category],
      },
      conversion: { strategy: 'None' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })),
          ...(status === undefined ? {} : { subresources: { status: {} } }),
          schema: { openAPIV3Schema: resourceStructure(key) },
        },
      ],
    },
  };
}
