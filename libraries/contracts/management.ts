import { z } from 'zod';
import { codePoints } from './code-points.ts';
import { managementErrors, operationFailures } from './management-errors.ts';
import { classifierProfile, definitionSchema, detectorContract } from './policy.ts';

/** The contract of the policy management API (management:version:contract). */
export const managementContract = 'platform.control-plane.guardrail-management/v1';

/** The numbers of the contract (management:limit:page-size, management:limit:idempotency-key). */
export const managementLimits = {
  /** Number of entries on one page of policies or revisions. */
  pageSize: { min: 1, max: 50, default: 20 },
  idempotencyKey: { min: 16, max: 128 },
  policyName: { min: 1, max: 128 },
  /** Length of the description in code points. */
  policyDescription: { min: 0, max: 2_048 },
  /** Body of a command, bytes. */
  bodyBytes: 1_048_576,
} as const;

/** The largest number that a revision can have. */
export const maxRevision = 2_147_483_647;

/** An id of the control plane: policy, model, operation (management:resource-id:uuidv7). */
export const resourceIdSchema = z.uuidv7();
const revisionNumber = z.int().min(1).max(maxRevision);
const digest = z
  .string()
  .length(64)
  .regex(/^[0-9a-f]{64}$/);
const instant = z.iso.datetime();

const policyStatus = z
  .enum(['draft', 'archived'])
  .describe(
    'Lifecycle of the policy: an archived policy cannot be applied to further models. It does not say whether a model uses the policy.',
  );

/** The form of a policy name, of the API and of the resource alike (management:policy-name:charset). */
export const policyNameForm = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

const policyName = z
  .string()
  .min(managementLimits.policyName.min)
  .max(managementLimits.policyName.max)
  .regex(policyNameForm)
  .describe('Begins with a Latin letter or digit; then Latin letters, digits, dots, hyphens and underscores.');

const policyDescription = codePoints(
  managementLimits.policyDescription.min,
  managementLimits.policyDescription.max,
).default('');

/** Body of POST /api/v1/guardrail-policies (management:policy-create:body). */
export const policyCreateSchema = z
  .strictObject({
    name: policyName,
    description: policyDescription,
    definition: definitionSchema,
  })
  .describe('The definition of a new policy.');

/** Body of PUT /api/v1/guardrail-policies/{policyId}: the whole policy. */
export const policyReplaceSchema = z
  .strictObject({
    name: policyName,
    description: policyDescription,
    definition: definitionSchema,
    status: policyStatus,
  })
  .describe(
    'The complete next revision of a policy. Members that are absent are not taken from the previous revision.',
  );

const contentProfile = z
  .string()
  .min(1)
  .max(128)
  .describe('The content profile. Whether it is supported is decided when the revision is applied.');

/** The body of a request that applies one revision of a policy to a model. */
export const bindingApplySchema = z
  .strictObject({
    policyId: z.uuid().describe('The id of the policy.'),
    policyRevision: z.int().min(1).describe('The number of the policy revision.'),
    contentProfile,
  })
  .describe('Applies one revision of a policy to the model.');

/** The body of a request that unbinds a model; both nulls are required (management:binding-write:both-nulls). */
export const bindingUnbindSchema = z
  .strictObject({ policyId: z.null(), policyRevision: z.null(), contentProfile })
  .describe('Unbinds the model.');

/** Body of PUT /api/v1/models/{modelId}/guardrail-binding (management:binding-write:fields). */
export const bindingWriteSchema = z.union([bindingApplySchema, bindingUnbindSchema]);

const policyFields = {
  id: resourceIdSchema.describe('The id of the policy.'),
  name: codePoints(0, 128).describe('The display name of the policy.'),
  description: codePoints(0, 4_096),
  revision: revisionNumber.describe('The number of the policy revision.'),
  status: policyStatus,
  definitionDigest: digest.describe(
    'SHA-256 of the canonical JSON (RFC 8785) of the policy definition; differs from bundleDigest.',
  ),
  ruleCount: z.int().min(0).describe('The number of rules in both sections of the policy.'),
  ruleKinds: z.array(z.string()).describe('The kinds of rules in the policy, each once, sorted.'),
  createdAt: instant.describe('When the policy was created; for a single revision, when the revision was recorded.'),
  updatedAt: instant.describe('When the newest revision of the policy was recorded.'),
};

/** An entry of the list of policies and of the list of revisions. */
export const policySummarySchema = z.strictObject(policyFields).describe('A policy without its definition.');
/** The answer to the detailed read of a policy, and to the read of one revision. */
export const policyDetailSchema = z
  .strictObject({ ...policyFields, definition: definitionSchema })
  .describe('A policy with its definition.');

export const policyListSchema = z
  .strictObject({
    items: z.array(policySummarySchema),
    nextCursor: z.string().nullable().describe('The cursor of the next page; null on the last page.'),
  })
  .describe('A page of policies.');

export const revisionListSchema = z
  .strictObject({
    items: z.array(policySummarySchema),
    nextBeforeRevision: revisionNumber
      .nullable()
      .describe('The parameter beforeRevision for the next page; null on the last page.'),
  })
  .describe('A page of the revisions of a policy, newest first.');

const providerName = z.string().min(1).max(128);
const credentialRef = z
  .strictObject({ name: z.string() })
  .describe('The name of the provider credential; the secret itself is never returned.');

/** GET /api/v1/guardrail-providers: approved configurations of external checks. */
export const providerListSchema = z
  .strictObject({
    items: z.array(
      z.discriminatedUnion('kind', [
        z.strictObject({
          name: providerName,
          kind: z.literal('detector'),
          contract: z.literal(detectorContract),
          credentialRef,
        }),
        z.strictObject({
          name: providerName,
          kind: z.literal('classifier'),
          profile: z.literal(classifierProfile),
          credentialRef,
        }),
      ]),
    ),
  })
  .describe('The approved providers that rules may use for external checks.');

const bindingStates = ['pending', 'applied', 'failed', 'disabled', 'unbound'] as const;
export type BindingState = (typeof bindingStates)[number];

/** The policy that a model should have, or the policy that serves it. */
const appliedPolicy = {
  policyId: z.string().nullable(),
  policyRevision: revisionNumber.nullable(),
  generationId: z.uuid().nullable(),
  bundleDigest: digest.nullable(),
};

/** GET /api/v1/models/{modelId}/guardrail-binding (management:binding-get:selected-policy). */
export const bindingReadSchema = z
  .strictObject({
    modelId: resourceIdSchema,
    gatewayName: z.string(),
    modelRevision: z
      .int()
      .min(1)
      .describe('A number that grows with each change of the desired guardrail of the model.'),
    operationId: resourceIdSchema
      .nullable()
      .describe('The id of the operation that set the desired guardrail of the model; null when no operation did.'),
    state: z
      .enum(bindingStates)
      .describe(
        'The state applied means that every ready gateway replica has confirmed the guardrail. The answer 202 to a command does not mean that.',
      ),
    binding: z
      .strictObject(appliedPolicy)
      .nullable()
      .describe('The desired guardrail of the model; generationId and bundleDigest are null until they are known.'),
    observation: z
      .strictObject({
        serving: z
          .strictObject(appliedPolicy)
          .nullable()
          .describe(
            'The application in the newest route of the gateways; while a new application is being prepared, it is the previous one.',
          ),
        expected: z.int().min(0).describe('The number of ready gateway replicas.'),
        confirmed: z
          .int()
          .min(0)
          .describe('The number of ready gateway replicas that have confirmed the newest route.'),
        rejected: z.int().min(0).describe('The number of gateway replicas that rejected the newest route.'),
        reason: z.string().nullable().describe('The reason of the state; null when the state is applied or unbound.'),
        cause: z
          .string()
          .nullable()
          .describe(
            'The first cause of the state failed or pending, in one sentence: the rule, test, provider or replica, and its problem. Null in the other states.',
          ),
        whatToDo: z.string().nullable().describe('The remedy for the cause; null without a cause.'),
        lastObservedAt: instant.nullable().describe('When the observed state last changed.'),
      })
      .describe('The guardrail that the gateway replicas serve.'),
  })
  .describe('The guardrail binding of a model.');

export const operationKinds = ['policy.create', 'policy.update', 'binding.apply', 'binding.unbind'] as const;
export type OperationKind = (typeof operationKinds)[number];
export const operationStates = ['pending', 'running', 'succeeded', 'failed'] as const;
export type OperationState = (typeof operationStates)[number];

const failureCodes = Object.keys(operationFailures) as [keyof typeof operationFailures];
const policyResult = z.strictObject({ policyId: resourceIdSchema, revision: revisionNumber });
const bindingResult = z.strictObject({ modelId: resourceIdSchema, ...appliedPolicy });

/** GET /api/v1/operations/{operationId}, and the body of every 202 (management:command:operation-representation). */
export const operationSchema = z
  .strictObject({
    operationId: resourceIdSchema,
    kind: z.enum(operationKinds),
    state: z.enum(operationStates).describe('The state of the operation; succeeded and failed are final.'),
    target: z.strictObject({ type: z.enum(['policy', 'model']), id: resourceIdSchema }),
    result: z.union([policyResult, bindingResult]).nullable(),
    error: z
      .strictObject({
        code: z.enum(failureCodes),
        message: z.string().describe('The meaning of the code.'),
        cause: z
          .string()
          .nullable()
          .describe(
            'Why the application failed, in the words of the conditions of the resource: the rule, test or provider, and its problem. Null for another failure.',
          ),
        traceId: z.string(),
      })
      .nullable(),
    createdAt: instant,
    updatedAt: instant,
  })
  .describe('A command of the management API and its progress or outcome.');

const errorCodes = Object.keys(managementErrors) as [keyof typeof managementErrors];

/** Body of every error. */
export const managementErrorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes),
      message: z.string(),
      traceId: z
        .string()
        .regex(/^[0-9a-f]{32}$/)
        .describe('Trace id of W3C Trace Context.'),
      details: z.array(
        z.strictObject({ path: z.string().describe('JSON Pointer (RFC 6901) of the member.'), message: z.string() }),
      ),
    }),
  })
  .describe('An error of the management API.');

export type PolicyCreate = z.output<typeof policyCreateSchema>;
export type PolicyReplace = z.output<typeof policyReplaceSchema>;
export type BindingWrite = z.output<typeof bindingWriteSchema>;
export type PolicySummary = z.output<typeof policySummarySchema>;
export type PolicyDetail = z.output<typeof policyDetailSchema>;
export type BindingRead = z.output<typeof bindingReadSchema>;
export type OperationResource = z.output<typeof operationSchema>;
export type OperationResult = NonNullable<OperationResource['result']>;
export type ProviderList = z.output<typeof providerListSchema>;
export type ManagementErrorBody = z.output<typeof managementErrorSchema>;
