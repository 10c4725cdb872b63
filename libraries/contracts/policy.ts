import { z } from 'zod';
import { codePoints } from './code-points.ts';
import { limits } from './limits.ts';
import { localActionSchema, regexSchema, stopListSchema } from './local-rules.ts';

/** The contract of an external detector (`bundle:external-pipeline:contract`). */
export const detectorContract = 'platform.guardrail-runtime.detector/v1';
/** The profile of a classifier (`bundle:classifier-profile:name`). */
export const classifierProfile = 'generic.chat-completions.classifier/v1';

const name = z
  .string()
  .min(1)
  .max(128)
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    'must have only letters, digits, ".", "_" and "-", with a letter or digit at both ends',
  );

const ruleId = name.describe('id names the rule in messages and metrics; unique in its section.');
const timeoutMs = z
  .int()
  .min(limits.timeoutMs.min)
  .max(limits.timeoutMs.max)
  .describe('timeoutMs is the time-out of the rule in milliseconds, not above the deadlineMs of its section.');

const denyAction = z
  .strictObject({ type: z.literal('deny').describe('type deny forbids the text.') })
  .describe('action says what a match does.');
const externalPipeline = z
  .strictObject({
    provider: name.describe('provider names an entry of providers.'),
    contract: z.literal(detectorContract).describe('contract is the wire contract of the detector.'),
  })
  .describe('externalPipeline holds the members of a rule of kind external_pipeline.');

const llmClassifier = z
  .strictObject({
    provider: name.describe('provider names an entry of providers.'),
    profile: z.literal(classifierProfile).describe('profile is the wire profile of the classifier.'),
    instruction: z
      .strictObject({
        version: codePoints(1, 64).describe('version names this state of the instruction.'),
        text: codePoints(1, 32_768).describe('text is the instruction to the classifier.'),
      })
      .describe('instruction is what the classifier judges by.'),
  })
  .describe('llmClassifier holds the members of a rule of kind llm_classifier.');

const kindOf = <K extends string>(kind: K) =>
  z.literal(kind).describe('kind says what a rule does; exactly the member of that name is set beside it.');

const kinds = {
  stop_list: { id: ruleId, kind: kindOf('stop_list'), timeoutMs, action: localActionSchema, stopList: stopListSchema },
  regex: { id: ruleId, kind: kindOf('regex'), timeoutMs, action: localActionSchema, regex: regexSchema },
  external_pipeline: {
    id: ruleId,
    kind: kindOf('external_pipeline'),
    timeoutMs,
    action: denyAction,
    externalPipeline,
  },
  llm_classifier: { id: ruleId, kind: kindOf('llm_classifier'), timeoutMs, action: denyAction, llmClassifier },
} as const;

/** A rule that always enforces (`bundle:section:baseline-always-enforce`). */
const baselineRuleSchema = z.discriminatedUnion('kind', [
  z.strictObject(kinds.stop_list),
  z.strictObject(kinds.regex),
  z.strictObject(kinds.external_pipeline),
  z.strictObject(kinds.llm_classifier),
]);

const mode = z.enum(['enforce', 'observe']).describe('mode says whether the rule decides or is only counted.');

/** A rule that enforces or observes (`bundle:section:additional-enforce-or-observe`). */
const additionalRuleSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...kinds.stop_list, mode }),
  z.strictObject({ ...kinds.regex, mode }),
  z.strictObject({ ...kinds.external_pipeline, mode }),
  z.strictObject({ ...kinds.llm_classifier, mode }),
]);

/**
 * One stage of a policy: the baseline rules are first, then the additional rules
 * (`guardrail:execution:baseline-first`).
 */
export const sectionSchema = z
  .strictObject({
    deadlineMs: z
      .int()
      .min(limits.deadlineMs.min)
      .max(limits.deadlineMs.max)
      .describe('deadlineMs is the budget of the stage in milliseconds.'),
    baseline: z.array(baselineRuleSchema).min(1).max(1_024).describe('baseline lists rules that always enforce.'),
    additional: z
      .array(additionalRuleSchema)
      .max(1_024)
      .describe('additional lists rules that enforce or observe; it may be empty.'),
  })
  .superRefine((section, context) => {
    const seen = new Map<string, string>();
    const check = (list: 'baseline' | 'additional', rules: readonly { id: string; timeoutMs: number }[]): void => {
      for (const [index, rule] of rules.entries()) {
        const first = seen.get(rule.id);
        if (first !== undefined) {
          context.addIssue({
            code: 'custom',
            path: [list, index, 'id'],
            message: `is used twice in its section, first by ${first}: give the rule another id`,
          });
        }
        if (first === undefined) seen.set(rule.id, `${list}[${index}]`);
        if (rule.timeoutMs > section.deadlineMs) {
          context.addIssue({
            code: 'custom',
            path: [list, index, 'timeoutMs'],
            message: `is above the deadlineMs ${section.deadlineMs} of its section: lower it, or raise deadlineMs`,
          });
        }
      }
    };
    check('baseline', section.baseline);
    check('additional', section.additional);
  });

/** A provider as a policy names it; endpoint and secret are configuration of the environment. */
const providerReferenceSchema = z.strictObject({
  name: name.describe('name is the name of an approved provider.'),
  credentialRef: z
    .strictObject({ name: name.describe('name is the name of the credential.') })
    .describe('credentialRef must equal the credential of the approved entry.'),
});

/** The definition of a policy: the rules of each stage, the rules of both stages, and the providers that rules name. */
export const definitionSchema = z
  .strictObject({
    shared: z
      .array(baselineRuleSchema)
      .min(1)
      .max(256)
      .describe('shared lists rules of both sections; in each they run before its baseline.')
      .optional(),
    request: sectionSchema.describe('request holds the rules for input.'),
    response: sectionSchema.describe('response holds the rules for output.'),
    providers: z
      .array(providerReferenceSchema)
      .max(64)
      .describe('providers lists the detectors and classifiers that rules name; it may be empty.'),
  })
  .superRefine((definition, context) => {
    for (const [index, rule] of (definition.shared ?? []).entries()) refuseShared(definition, { index, rule }, context);
    const names = new Set<string>();
    for (const [index, provider] of definition.providers.entries()) {
      if (names.has(provider.name)) {
        context.addIssue({
          code: 'custom',
          path: ['providers', index, 'name'],
          message: 'is listed twice: remove one',
        });
      }
      names.add(provider.name);
    }
  });

export type Sections = {
  readonly request: Section;
  readonly response: Section;
  readonly shared?: readonly BaselineRule[] | undefined;
};

function refuseShared(
  definition: Sections,
  { index, rule }: { readonly index: number; readonly rule: BaselineRule },
  context: z.RefinementCtx,
): void {
  const issue = (member: string, message: string): void =>
    context.addIssue({ code: 'custom', path: ['shared', index, member], message });
  const earlier = definition.shared?.slice(0, index) ?? [];
  const others = [...earlier, ...rulesInOrder(definition.request), ...rulesInOrder(definition.response)];
  if (others.some(({ id }) => id === rule.id)) issue('id', 'is used twice: give the rule another id');
  for (const stage of ['request', 'response'] as const) {
    const { deadlineMs } = definition[stage];
    if (rule.timeoutMs > deadlineMs)
      issue(
        'timeoutMs',
        `is above the deadlineMs ${deadlineMs} of the ${stage} section: lower it, or raise deadlineMs`,
      );
  }
}

export type BaselineRule = z.infer<typeof baselineRuleSchema>;
export type AdditionalRule = z.infer<typeof additionalRuleSchema>;
export type Rule = BaselineRule | AdditionalRule;
export type RuleKind = Rule['kind'];
export type Section = z.infer<typeof sectionSchema>;
export type Definition = z.infer<typeof definitionSchema>;
export type Stage = 'request' | 'response';

/** The provider that a rule calls, if its kind calls one. */
export function providerOf(rule: Rule): string | undefined {
  switch (rule.kind) {
    case 'stop_list':
    case 'regex':
      return undefined;
    case 'external_pipeline':
      return rule.externalPipeline.provider;
    case 'llm_classifier':
      return rule.llmClassifier.provider;
  }
}

/** Whether a rule can decide; a baseline rule always can (`bundle:section:baseline-always-enforce`). */
export function isEnforced(rule: Rule): boolean {
  return !('mode' in rule) || rule.mode === 'enforce';
}

/** The rules of a section in the order in which they run (`guardrail:execution:baseline-first`). */
export function rulesInOrder(section: Section): readonly Rule[] {
  return [...section.baseline, ...section.additional];
}
