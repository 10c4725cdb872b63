import type { ServedOperation } from '../../operator/management/http/served-table.ts';

type HeldRole = 'administrator' | 'author' | 'applier' | 'viewer' | 'emergency';
type TargetType = 'policy' | 'model';

/** The role of a caller: for the control plane, or for the own policy or model. */
export type Held = { readonly role: HeldRole; readonly type?: TargetType };

/**
 * One of several roles that permit a call; a role `of` a type is sufficient for the control plane or for the target, a
 * role `of any` for any object.
 */
type Need =
  | HeldRole
  | `${'author' | 'viewer'} of policy`
  | `${'applier' | 'viewer'} of model`
  | 'author of any policy'
  | 'viewer of any model'
  | 'viewer of any policy';

/** `own`: the object of a caller's single role, or a command of the caller. `known`: an object that roles do not name. */
type Target = 'none' | 'own' | 'other' | 'unknown' | 'known';

type Answers = Partial<Record<Target, string>>;

type Row = {
  /** The kind of the target. */
  readonly type?: TargetType | 'operation' | 'agent';
  readonly needs: readonly Need[];
  /** Status and code of the answer to a caller with the right, for each target. */
  readonly allowed: Answers;
  /** The answers to a caller without the right that are not `denied`. */
  readonly refused?: Answers;
};

type Plan = { readonly route: string; readonly rows: readonly Row[] };

/** A call of the matrix. */
export type MatrixCase = Pick<Row, 'needs'> & {
  readonly operation: ServedOperation;
  readonly method: string;
  /** The path with the names of its parameters. */
  readonly template: string;
  readonly type: Row['type'];
  readonly target: Target;
  readonly allowed: string;
  readonly refused: string;
};

const denied = '403 permission_denied';
const base = '/api/v1';

const plain = (needs: readonly Need[], answer = '200'): readonly Row[] => [{ needs, allowed: { none: answer } }];
const both = (answer: string, unknown: string): Answers => ({ own: answer, other: answer, unknown });
const onPolicy = (need: Need, answer = '200', unknown = '404 policy_not_found'): Row => ({
  type: 'policy',
  needs: [need],
  allowed: both(answer, unknown),
});
const onModel = (need: Need, answer = '200', unknown = '404 model_not_found'): Row => ({
  type: 'model',
  needs: [need],
  allowed: both(answer, unknown),
});
const onAgent: Row = { type: 'agent', needs: ['viewer'], allowed: { known: '200', unknown: '404 not_found' } };

const viewers = ['viewer'] as const;
const administrators = ['administrator'] as const;
const restorers = ['administrator', 'emergency'] as const;
const approvers = { policy: 'author of policy', model: 'applier of model' } as const;

/** Rows of changes of a right: for the control plane, and for one policy or model, which need not exist. */
const rightRows: readonly Row[] = [
  { needs: restorers, allowed: { none: '200' } },
  { type: 'policy', needs: restorers, allowed: both('200', '200') },
  { type: 'model', needs: restorers, allowed: both('200', '200') },
];
const approvalRows = (['policy', 'model'] as const).flatMap((type): readonly Row[] => [
  { type, needs: [approvers[type]], allowed: { own: '200', other: '200' } },
  // The right depends on the request, so that without a request there is no right to check.
  {
    type,
    needs: [approvers[type]],
    allowed: { unknown: '404 approval_not_found' },
    refused: { unknown: '404 approval_not_found' },
  },
]);
const listedApprovalRows = (['policy', 'model'] as const).map(
  (type): Row => ({
    type,
    needs: ['viewer', approvers[type]],
    allowed: { own: '200 shown', other: '200 shown' },
    refused: { own: '200 hidden', other: '200 hidden' },
  }),
);

/** Every route of the service, who may call it on which target, and the answer to a call with the right. */
export const plans: Readonly<Record<ServedOperation, Plan>> = {
  listPolicies: { route: `GET ${base}/guardrail-policies`, rows: plain(viewers) },
  createPolicy: { route: `POST ${base}/guardrail-policies`, rows: plain(['author'], '202') },
  getPolicy: { route: `GET ${base}/guardrail-policies/{policyId}`, rows: [onPolicy('viewer of policy')] },
  replacePolicy: { route: `PUT ${base}/guardrail-policies/{policyId}`, rows: [onPolicy('author of policy', '202')] },
  listRevisions: { route: `GET ${base}/guardrail-policies/{policyId}/revisions`, rows: [onPolicy('viewer of policy')] },
  getRevision: {
    route: `GET ${base}/guardrail-policies/{policyId}/revisions/{revision}`,
    rows: [onPolicy('viewer of policy')],
  },
  getRevisionDiff: { route: `GET ${base}/policy-diffs/{policyId}`, rows: [onPolicy('viewer of policy')] },
  listPolicyHistory: { route: `GET ${base}/policy-histories/{policyId}`, rows: [onPolicy('viewer of policy')] },
  purgeRevision: {
    route: `POST ${base}/policy-purges/{policyId}/{revision}`,
    rows: [onPolicy('administrator')],
  },
  checkPolicy: { route: `POST ${base}/policy-checks`, rows: plain(['author of any policy']) },
  dryRunCreatePolicy: { route: `POST ${base}/dry-runs/guardrail-policies`, rows: plain(['author']) },
  dryRunReplacePolicy: {
    route: `POST ${base}/dry-runs/guardrail-policies/{policyId}`,
    rows: [onPolicy('author of policy')],
  },
  listProviders: { route: `GET ${base}/guardrail-providers`, rows: plain(viewers) },
  testProvider: { route: `POST ${base}/provider-test`, rows: plain(administrators) },
  getBinding: { route: `GET ${base}/models/{modelId}/guardrail-binding`, rows: [onModel('viewer of model')] },
  replaceBinding: {
    route: `PUT ${base}/models/{modelId}/guardrail-binding`,
    rows: [onModel('applier of model', '202')],
  },
  dryRunReplaceBinding: {
    route: `POST ${base}/dry-runs/models/{modelId}/guardrail-binding`,
    rows: [onModel('applier of model')],
  },
  getOperation: {
    route: `GET ${base}/operations/{operationId}`,
    rows: [
      {
        type: 'operation',
        needs: viewers,
        allowed: { own: '200', other: '200', unknown: '404 operation_not_found' },
        refused: { own: '200' },
      },
    ],
  },
  listOperations: {
    route: `GET ${base}/operations`,
    rows: [
      {
        type: 'operation',
        needs: viewers,
        allowed: { own: '200 shown', other: '200 shown', unknown: '200 hidden' },
        refused: { own: '200 shown', other: '200 hidden', unknown: '200 hidden' },
      },
    ],
  },
  discoverResources: { route: `GET ${base}/resources`, rows: plain(viewers) },
  listResources: { route: `GET ${base}/resources/{plural}`, rows: plain(viewers) },
  getResource: { route: `GET ${base}/resources/{plural}/{name}`, rows: [onPolicy('viewer'), onModel('viewer')] },
  listAgents: { route: `GET ${base}/agents`, rows: plain(viewers) },
  getAgent: { route: `GET ${base}/agents/{agentId}`, rows: [onAgent] },
  getAgentFlow: { route: `GET ${base}/agents/{agentId}/versions/{versionId}/flow`, rows: [onAgent] },
  listVersionsWithoutAgent: { route: `GET ${base}/agent-versions/without-agent`, rows: plain(viewers) },
  listActivity: { route: `GET ${base}/activity`, rows: plain(viewers) },
  listDecisionCounts: { route: `GET ${base}/decision-counts`, rows: plain(viewers) },
  getOverview: { route: `GET ${base}/overview`, rows: plain(['viewer of any model', 'viewer of any policy']) },
  getOwnRights: {
    route: `GET ${base}/own-rights`,
    rows: [{ needs: viewers, allowed: { none: '200' }, refused: { none: '200' } }],
  },
  listAudit: { route: `GET ${base}/audit`, rows: plain(restorers) },
  listAuditChains: { route: `GET ${base}/audit/chains`, rows: plain(restorers) },
  listRights: { route: `GET ${base}/rights`, rows: plain(restorers) },
  grantRight: { route: `POST ${base}/rights/grant`, rows: rightRows },
  revokeRight: { route: `POST ${base}/rights/revoke`, rows: rightRows },
  listApprovals: { route: `GET ${base}/approvals`, rows: listedApprovalRows },
  approveCommand: { route: `POST ${base}/approvals/{approvalId}/approve`, rows: approvalRows },
  listApprovalRules: { route: `GET ${base}/approval-rules`, rows: plain(viewers) },
  requireApproval: {
    route: `POST ${base}/approval-rules/require`,
    rows: [onPolicy('administrator'), onModel('administrator')],
  },
  releaseApproval: {
    route: `POST ${base}/approval-rules/release`,
    rows: [onPolicy('administrator', '200', '200'), onModel('administrator', '200', '200')],
  },
  listFreezes: { route: `GET ${base}/freezes`, rows: plain(viewers) },
  setFreeze: { route: `POST ${base}/freezes`, rows: [onPolicy('administrator'), onModel('administrator')] },
  removeFreeze: {
    route: `POST ${base}/freezes/{freezeId}/remove`,
    rows: [
      onPolicy('administrator', '200', '404 freeze_not_found'),
      onModel('administrator', '200', '404 freeze_not_found'),
    ],
  },
};

/** Every operation on every target. */
export const matrixCases: readonly MatrixCase[] = Object.entries(plans).flatMap(([operation, { route, rows }]) => {
  const [method = '', template = ''] = route.split(' ');
  return rows.flatMap(({ type, needs, allowed, refused }) =>
    Object.entries(allowed).map(([target, answer]): MatrixCase => {
      const at = target as Target;
      const row = { method, template, type, needs, target: at, allowed: answer, refused: refused?.[at] ?? denied };
      return { operation: operation as ServedOperation, ...row };
    }),
  );
});

const included: Readonly<Record<HeldRole, readonly HeldRole[]>> = {
  administrator: ['administrator', 'author', 'applier', 'viewer'],
  author: ['author', 'viewer'],
  applier: ['applier', 'viewer'],
  viewer: ['viewer'],
  emergency: ['emergency'],
};

/** Whether a caller with this role may make the call. */
function mayCall(held: Held | undefined, { needs, target }: MatrixCase): boolean {
  if (held === undefined) return false;
  return needs.some((need) => {
    const [role = '', type] = need.split(' of ');
    const isIncluded = included[held.role].some((one) => one === role);
    const isHeld = type === `any ${held.type}` || (held.type === type && target === 'own');
    return isIncluded && (held.type === undefined || isHeld);
  });
}

/** The status and code that a caller gets. @param held undefined for a caller without a role */
export function answerTo(
  held: Held | undefined,
  one: MatrixCase,
): { readonly isAllowed: boolean; readonly answer: string } {
  const isAllowed = mayCall(held, one);
  // The emergency credential has no separate commands to read about.
  const refused = held?.role === 'emergency' ? denied : one.refused;
  return { isAllowed, answer: isAllowed ? one.allowed : refused };
}
