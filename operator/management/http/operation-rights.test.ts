import { describe, expect, test } from 'vitest';
import { controlPlane, model, type ObjectType, type RelationRule } from '#relations/model';
import { accessRules } from './operation-rights.ts';
import { type ServedOperation, servedOperationNames, servedTable } from './served-table.ts';

const policyId = '01900000-0000-7000-8000-0000000000aa';
const modelId = '01900000-0000-7000-8000-0000000000bb';
const other = '01900000-0000-7000-8000-0000000000cc';

/** Every right that a person can have, by its name in the tables below. */
const holdings = {
  nothing: undefined,
  administrator: ['administer', controlPlane],
  author: ['author', controlPlane],
  applier: ['applier', controlPlane],
  viewer: ['viewer', controlPlane],
  policyAuthor: ['author', `policy:${policyId}`],
  policyViewer: ['viewer', `policy:${policyId}`],
  modelApplier: ['applier', `model:${modelId}`],
  modelViewer: ['viewer', `model:${modelId}`],
} as const satisfies Readonly<Record<string, readonly [relation: string, object: string] | undefined>>;
type Holding = keyof typeof holdings;

const everyReader = ['administrator', 'author', 'applier', 'viewer'] as const;
const policyReaders = [...everyReader, 'policyAuthor', 'policyViewer'] as const;
const modelReaders = [...everyReader, 'modelApplier', 'modelViewer'] as const;
const authors = ['administrator', 'author'] as const;
const policyAuthors = [...authors, 'policyAuthor'] as const;
const modelAppliers = ['administrator', 'applier', 'modelApplier'] as const;
const administrators = ['administrator'] as const;

/** The rights that allow each operation on their policy and model (docs/manage-policies.md). */
const allowed: Readonly<Record<ServedOperation, readonly Holding[]>> = {
  listPolicies: everyReader,
  listProviders: everyReader,
  getOperation: everyReader,
  listOperations: everyReader,
  discoverResources: everyReader,
  listResources: everyReader,
  getResource: everyReader,
  listAgents: everyReader,
  getAgent: everyReader,
  getAgentFlow: everyReader,
  listVersionsWithoutAgent: everyReader,
  listActivity: everyReader,
  listDecisionCounts: everyReader,
  getOverview: everyReader,
  getOwnRights: everyReader,
  listApprovals: everyReader,
  listApprovalRules: everyReader,
  listFreezes: everyReader,
  getPolicy: policyReaders,
  listRevisions: policyReaders,
  getRevision: policyReaders,
  getRevisionDiff: policyReaders,
  listPolicyHistory: policyReaders,
  getBinding: modelReaders,
  checkPolicy: authors,
  createPolicy: authors,
  dryRunCreatePolicy: authors,
  replacePolicy: policyAuthors,
  dryRunReplacePolicy: policyAuthors,
  replaceBinding: modelAppliers,
  dryRunReplaceBinding: modelAppliers,
  testProvider: administrators,
  listAudit: administrators,
  listAuditChains: administrators,
  listRights: administrators,
  grantRight: administrators,
  revokeRight: administrators,
  purgeRevision: administrators,
  requireApproval: administrators,
  releaseApproval: administrators,
  setFreeze: administrators,
  removeFreeze: administrators,
  approveCommand: administrators,
};

/** Whether a granted relation includes another relation to the same object. */
function includes(type: ObjectType, granted: string, wanted: string): boolean {
  if (granted === wanted) return true;
  const rules: Readonly<Record<string, RelationRule>> = model[type];
  return (rules[wanted]?.also ?? []).some(({ relation }) => includes(type, granted, relation));
}

function mayCall(operation: ServedOperation, path: Readonly<Record<string, string>>, holding: Holding): boolean {
  const held = holdings[holding];
  if (held === undefined) return false;
  const { relation, objects } = accessRules.requiredRight({ operation, path });
  const [granted, object] = held;
  const type = object.slice(0, object.indexOf(':')) as ObjectType;
  return objects.includes(object) && includes(type, granted, relation);
}

describe('the rights of operations', () => {
  test('every served operation is listed exactly once in the table of rights', () => {
    expect(servedTable.operations.map(({ name }) => name).toSorted()).toEqual([...servedOperationNames].toSorted());
    expect(Object.keys(allowed).toSorted()).toEqual([...servedOperationNames].toSorted());
  });

  test.each(servedOperationNames)(
    '%s may be called with the rights that the table names, and with no other right',
    (operation) => {
      const names = Object.keys(holdings) as Holding[];
      const callers = names.filter((holding) => mayCall(operation, { policyId, modelId }, holding));
      expect(callers.toSorted()).toEqual([...allowed[operation]].toSorted());
      const ofOthers = names.filter((holding) => mayCall(operation, { policyId: other, modelId: other }, holding));
      const general: readonly string[] = everyReader;
      expect(ofOthers.toSorted()).toEqual(allowed[operation].filter((one) => general.includes(one)).toSorted());
      const unnamed = names.filter((holding) => mayCall(operation, { policyId: '*', modelId: '' }, holding));
      expect(unnamed.toSorted()).toEqual(ofOthers.toSorted());
    },
  );

  test('an operation with a method that writes requires more than the rights of a viewer', () => {
    const changing = servedTable.operations.filter(({ method }) => method !== 'GET').map(({ name }) => name);
    for (const operation of changing) {
      const viewers = ['viewer', 'policyViewer', 'modelViewer'] as const;
      expect([operation, viewers.filter((one) => mayCall(operation, { policyId, modelId }, one))]).toEqual([
        operation,
        [],
      ]);
    }
    expect(changing.length).toBeGreaterThan(10);
  });
});
