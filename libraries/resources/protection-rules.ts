import { judgedTextKinds } from '#contracts/judged-texts';
import type { AdmissionRule } from './admission-rules.ts';
import { confirmDeletionAnnotation, confirmUnguardedAnnotation, group, kinds } from './kinds.ts';
import { forwardedText, streamedText } from './protection.ts';

const annotation = (object: string, name: string): string =>
  `has(${object}.metadata.annotations) && '${name}' in ${object}.metadata.annotations ` +
  `? ${object}.metadata.annotations['${name}'] : ''`;

/**
 * The writers whose deletions follow from another deletion that a user requested: the garbage collector, and the
 * controller that empties a namespace. A refusal would keep the owner's dependents, or the namespace, indefinitely.
 */
const isCleanup = {
  name: 'isCleanup',
  expression:
    "request.userInfo.username in ['system:serviceaccount:kube-system:generic-garbage-collector', " +
    "'system:serviceaccount:kube-system:namespace-controller', 'system:kube-controller-manager'] || " +
    'has(namespaceObject.metadata.deletionTimestamp)',
};

/**
 * A deletion that was accepted before, or is confirmed by the annotation of the object: with `true`, or with
 * UID.GENERATION for a deletion that names the resource version.
 */
const isConfirmed = [
  { name: 'confirmation', expression: annotation('oldObject', confirmDeletionAnnotation) },
  {
    name: 'isConfirmed',
    expression:
      "has(oldObject.metadata.deletionTimestamp) || variables.confirmation == 'true' || " +
      'has(request.options.preconditions) && has(request.options.preconditions.resourceVersion) && ' +
      "variables.confirmation == oldObject.metadata.uid + '.' + string(oldObject.metadata.generation)",
  },
];

const howToDelete = (kind: string): string =>
  `to delete it on purpose: kubectl annotate ${kind} ' + oldObject.metadata.name + ' ${confirmDeletionAnnotation}=true, ` +
  "and delete it again'";

/** The names under which the policy is served to services, as the operator wrote them. */
const servedAs = 'has(oldObject.status) && has(oldObject.status.servedAs) ? oldObject.status.servedAs : []';

const allKinds = judgedTextKinds.map((kind) => `'${kind}'`).join(', ');
/** The further kinds of text that a binding adds to the judged texts. */
const judgedOf = (object: string): string =>
  `has(${object}.spec.judge) ? ('all' in ${object}.spec.judge ? [${allKinds}] : ${object}.spec.judge) : []`;
const isSet = (object: string, member: string, value: string): string =>
  `has(${object}.spec.${member}) && ${object}.spec.${member} == '${value}'`;

/** A change sets the confirmation with the value that the object needs now, and did not have it before. */
const isChangeConfirmed = [
  { name: 'before', expression: annotation('oldObject', confirmUnguardedAnnotation) },
  { name: 'after', expression: annotation('object', confirmUnguardedAnnotation) },
  { name: 'wanted', expression: "oldObject.metadata.uid + '.' + string(oldObject.metadata.generation)" },
  {
    name: 'isConfirmed',
    expression: 'variables.after == variables.wanted && variables.after != variables.before',
  },
];

const isPolicyRetained = '!variables.isUsed || variables.isConfirmed || variables.isCleanup';

/**
 * Changes that remove protection need a confirmation in the object, so that none is made by accident. `protection.ts`
 * makes the same checks for the resources of the standalone platform.
 */
export const protectionRules: readonly AdmissionRule[] = [
  {
    name: `unguarding.${group}`,
    description:
      'A change that removes or reduces the protection of a ModelBinding needs a confirmation in the same change.',
    kinds: [kinds.modelBinding],
    operations: ['UPDATE'],
    variables: [
      ...isChangeConfirmed,
      {
        name: 'isGuarding',
        expression:
          'has(oldObject.status) && has(oldObject.status.pinned) && has(oldObject.status.pinned.policyId) && ' +
          "object.spec.guardrail.mode == 'Policy'",
      },
      { name: 'judgedBefore', expression: judgedOf('oldObject') },
      { name: 'judgedAfter', expression: judgedOf('object') },
      { name: 'lost', expression: 'variables.judgedBefore.filter(one, !(one in variables.judgedAfter))' },
      {
        name: 'weakened',
        expression: [
          "(object.spec.model.alias == oldObject.spec.model.alias ? [] : ['the binding would stop serving the model ' + oldObject.spec.model.alias])",
          "(object.spec.gateway == oldObject.spec.gateway ? [] : ['the gateway ' + oldObject.spec.gateway + ' would stop serving the model ' + oldObject.spec.model.alias])",
          "(size(variables.lost) == 0 ? [] : ['texts of these kinds would not be judged: ' + variables.lost.join(', ')])",
          `(${isSet('oldObject', 'unjudged', 'Refuse')} && !(${isSet('object', 'unjudged', 'Refuse')}) ? ['${forwardedText}'] : [])`,
          `(!(${isSet('oldObject', 'streaming', 'Allowed')}) && ${isSet('object', 'streaming', 'Allowed')} ? ['${streamedText}'] : [])`,
        ].join(' + '),
      },
    ],
    validations: [
      {
        expression:
          "oldObject.spec.guardrail.mode != 'Policy' || object.spec.guardrail.mode != 'None' || variables.isConfirmed",
        message:
          'the model would become UNGUARDED: its requests and answers would not be checked; to confirm it, set the ' +
          `annotation ${confirmUnguardedAnnotation} to UID.GENERATION of the binding in the same change`,
        messageExpression:
          "'the model ' + object.spec.model.alias + ' would become UNGUARDED: its requests and answers would not be ' + " +
          "'checked. Now revision ' + string(oldObject.spec.guardrail.policyRef.revision) + ' of ' + " +
          "oldObject.spec.guardrail.policyRef.name + ' guards it. To confirm it, set the annotation " +
          `${confirmUnguardedAnnotation} to ' + variables.wanted + ' in the same change, or run: ` +
          "kubectl portcullis unbind ' + " +
          'object.metadata.name',
        reason: 'Invalid',
      },
      {
        expression: '!variables.isGuarding || size(variables.weakened) == 0 || variables.isConfirmed',
        message:
          'the ModelBinding would protect less; to confirm it, set the annotation ' +
          `${confirmUnguardedAnnotation} to UID.GENERATION of the binding in the same change`,
        messageExpression:
          `variables.weakened.join('; ') + '. To confirm it, set the annotation ${confirmUnguardedAnnotation} to ' + ` +
          "variables.wanted + ' in the same change, or run: kubectl portcullis edit modelbinding ' + object.metadata.name",
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `unguarding-agents.${group}`,
    description: 'An Agent serves a version with fewer checks only with a confirmation in the same change.',
    kinds: [kinds.agent],
    operations: ['UPDATE'],
    params: kinds.agentVersion,
    variables: [
      ...isChangeConfirmed,
      {
        name: 'checked',
        expression: 'has(oldObject.status) && has(oldObject.status.checked) ? oldObject.status.checked : []',
      },
      {
        name: 'isBegun',
        expression:
          'params.metadata.name != oldObject.spec.version && (params.metadata.name == object.spec.version || ' +
          'has(object.spec.canary) && params.metadata.name == object.spec.canary.version && ' +
          '!(has(oldObject.spec.canary) && params.metadata.name == oldObject.spec.canary.version))',
      },
      {
        name: 'isLost',
        expression:
          "'Input' in variables.checked && params.spec.guardrails.input.mode == 'None' || " +
          "'Output' in variables.checked && params.spec.guardrails.output.mode == 'None'",
      },
    ],
    validations: [
      {
        expression: '!variables.isBegun || !variables.isLost || variables.isConfirmed',
        message: 'the version would leave texts UNGUARDED that the served version has checked',
        messageExpression:
          "'the version ' + params.metadata.name + ' would leave texts UNGUARDED that the served version has checked. To " +
          `confirm it, set the annotation ${confirmUnguardedAnnotation} to ' + variables.wanted + ' in the same change, or ` +
          "run: kubectl portcullis edit agent ' + object.metadata.name",
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `unguarding-versions.${group}`,
    description: 'An AgentVersion that its Agent names already is created with fewer checks only with a confirmation.',
    kinds: [kinds.agentVersion],
    operations: ['CREATE'],
    params: kinds.agent,
    variables: [
      { name: 'confirmation', expression: annotation('object', confirmUnguardedAnnotation) },
      { name: 'wanted', expression: "params.metadata.uid + '.' + string(params.metadata.generation)" },
      {
        name: 'checked',
        expression: 'has(params.status) && has(params.status.checked) ? params.status.checked : []',
      },
      {
        name: 'isNamed',
        expression:
          'object.spec.agent == params.metadata.name && !has(params.metadata.deletionTimestamp) && ' +
          '(params.spec.version == object.metadata.name || ' +
          'has(params.spec.canary) && params.spec.canary.version == object.metadata.name)',
      },
      {
        name: 'isLost',
        expression:
          "'Input' in variables.checked && object.spec.guardrails.input.mode == 'None' || " +
          "'Output' in variables.checked && object.spec.guardrails.output.mode == 'None'",
      },
    ],
    validations: [
      {
        expression: '!variables.isNamed || !variables.isLost || variables.confirmation == variables.wanted',
        message: 'the version would leave texts UNGUARDED that the served version has checked',
        messageExpression:
          "'the Agent ' + params.metadata.name + ' names the version ' + object.metadata.name + ', which would leave ' + " +
          "'texts UNGUARDED that the served version has checked. To confirm it, create the version with the annotation " +
          `${confirmUnguardedAnnotation} set to ' + variables.wanted + ', or with: kubectl portcullis apply'`,
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `guards.${group}`,
    description: 'A ModelBinding that guards a model is deleted only with a confirmation.',
    kinds: [kinds.modelBinding],
    operations: ['DELETE'],
    variables: [
      isCleanup,
      ...isConfirmed,
      {
        name: 'isGuarding',
        expression: 'has(oldObject.status) && has(oldObject.status.pinned) && has(oldObject.status.pinned.policyId)',
      },
    ],
    validations: [
      {
        expression: '!variables.isGuarding || variables.isConfirmed || variables.isCleanup',
        message: 'the ModelBinding guards a model',
        messageExpression:
          "'the ModelBinding guards the model ' + oldObject.spec.model.alias + ', which would no longer be served; " +
          howToDelete('modelbinding'),
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `used-policies.${group}`,
    description: 'A GuardrailPolicy that a ModelBinding refers to is deleted only with a confirmation.',
    kinds: [kinds.guardrailPolicy],
    operations: ['DELETE'],
    params: kinds.modelBinding,
    variables: [
      isCleanup,
      ...isConfirmed,
      {
        name: 'isUsed',
        expression:
          "!has(params.metadata.deletionTimestamp) && params.spec.guardrail.mode == 'Policy' && " +
          'params.spec.guardrail.policyRef.name == oldObject.metadata.name',
      },
    ],
    validations: [
      {
        expression: isPolicyRetained,
        message: 'a ModelBinding refers to the GuardrailPolicy',
        messageExpression:
          "'the ModelBinding ' + params.metadata.name + ' refers to the GuardrailPolicy ' + oldObject.metadata.name + '; " +
          "all of them: kubectl get modelbindings --field-selector spec.guardrail.policyRef.name=' + " +
          `oldObject.metadata.name + '; ${howToDelete('guardrailpolicy')}`,
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `policies-of-agents.${group}`,
    description: 'A GuardrailPolicy that an AgentVersion refers to is deleted only with a confirmation.',
    kinds: [kinds.guardrailPolicy],
    operations: ['DELETE'],
    params: kinds.agentVersion,
    variables: [
      isCleanup,
      ...isConfirmed,
      { name: 'names', expression: `[oldObject.metadata.name] + (${servedAs})` },
      {
        name: 'isUsed',
        expression:
          '!has(params.metadata.deletionTimestamp) && (' +
          "[params.spec.guardrails.input, params.spec.guardrails.output].exists(g, g.mode == 'Policy' && g.policyRef.name in variables.names) || " +
          "params.spec.requires.exists(one, one.kind == 'Policy' && one.name in variables.names))",
      },
    ],
    validations: [
      {
        expression: isPolicyRetained,
        message: 'an AgentVersion refers to the GuardrailPolicy',
        messageExpression:
          "'the AgentVersion ' + params.metadata.name + ' refers to the GuardrailPolicy ' + oldObject.metadata.name + '; " +
          howToDelete('guardrailpolicy'),
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `served-policies.${group}`,
    description: 'A GuardrailPolicy that is served to services is deleted only with a confirmation.',
    kinds: [kinds.guardrailPolicy],
    operations: ['DELETE'],
    variables: [
      isCleanup,
      ...isConfirmed,
      { name: 'names', expression: servedAs },
      { name: 'isUsed', expression: 'size(variables.names) > 0' },
    ],
    validations: [
      {
        expression: isPolicyRetained,
        message: 'services use the GuardrailPolicy as a served policy',
        messageExpression:
          "'the served policy ' + variables.names[0] + ' refers to the GuardrailPolicy ' + oldObject.metadata.name + '; " +
          howToDelete('guardrailpolicy'),
        reason: 'Invalid',
      },
    ],
  },
];
