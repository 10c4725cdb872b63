import type { AskedOperation } from '#api/operation';
import { type AccessRules, type RequiredRight, roleRight } from '../access/required-right.ts';
import type { ServedOperation } from './served-table.ts';

/** The right that each operation needs (docs/manage-policies.md, Administrators and roles). */
function requiredRight({ operation, path }: AskedOperation): RequiredRight {
  switch (operation as ServedOperation) {
    case 'listPolicies':
    case 'listProviders':
    case 'getOperation':
    case 'listOperations':
    case 'discoverResources':
    case 'listResources':
    case 'getResource':
    case 'listAgents':
    case 'getAgent':
    case 'getAgentFlow':
    case 'listVersionsWithoutAgent':
    case 'listActivity':
    case 'listDecisionCounts':
    case 'getOverview':
    case 'getOwnRights':
    case 'listApprovals':
    case 'listApprovalRules':
    case 'listFreezes':
      return roleRight('viewer');
    case 'getPolicy':
    case 'listRevisions':
    case 'getRevision':
    case 'getRevisionDiff':
    case 'listPolicyHistory':
      return roleRight('viewer', 'policy', path['policyId']);
    case 'getBinding':
      return roleRight('viewer', 'model', path['modelId']);
    case 'checkPolicy':
    case 'createPolicy':
    case 'dryRunCreatePolicy':
      return roleRight('author');
    case 'replacePolicy':
    case 'dryRunReplacePolicy':
      return roleRight('author', 'policy', path['policyId']);
    case 'replaceBinding':
    case 'dryRunReplaceBinding':
      return roleRight('applier', 'model', path['modelId']);
    case 'testProvider':
    case 'listAudit':
    case 'listAuditChains':
    case 'listRights':
    case 'grantRight':
    case 'revokeRight':
    case 'purgeRevision':
    case 'requireApproval':
    case 'releaseApproval':
    case 'setFreeze':
    case 'removeFreeze':
    // The right of the command is enough to approve it; the operation checks that right.
    case 'approveCommand':
      return roleRight('administer');
  }
}

/** The emergency credential restores rights of people, and reads who lost them. */
const emergencyOperations = [
  'listRights',
  'grantRight',
  'revokeRight',
  'listAudit',
  'listAuditChains',
] as const satisfies readonly ServedOperation[];

/**
 * Operations that write, compile, call a provider, or read very many rows or rights: each takes many times as long as
 * reading one object.
 */
const costlyOperations: ReadonlySet<string> = new Set([
  'createPolicy',
  'replacePolicy',
  'replaceBinding',
  'checkPolicy',
  'dryRunCreatePolicy',
  'dryRunReplacePolicy',
  'dryRunReplaceBinding',
  'getRevisionDiff',
  'testProvider',
  'getAgent',
  'getAgentFlow',
  'listVersionsWithoutAgent',
  'listOperations',
  'listApprovals',
] satisfies readonly ServedOperation[]);

export const accessRules: AccessRules = {
  requiredRight,
  costOf: (operation) => (costlyOperations.has(operation) ? 10 : 1),
  emergencyOperations,
  ownOperations: [
    'getOperation',
    'listOperations',
    'getOwnRights',
    'getOverview',
    'listApprovals',
    'approveCommand',
    'getAgent',
    'getAgentFlow',
    'checkPolicy',
  ] satisfies readonly ServedOperation[],
};
