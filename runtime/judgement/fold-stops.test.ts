import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { folds } from '#contracts/folds';
import { rulesInOrder } from '#contracts/policy';
import { compileLocalRule, isLocal, type LocalRule } from '../bundle/compile-local-rule.ts';
import { checkedText } from '../rules/checked-text.ts';
import { workedOut } from '../rules/pattern/cost/pattern-figures.ts';
import { readExamples } from './testing/judge-example.ts';

const root = join(import.meta.dirname, '../..');
const russian = process.env['PORTCULLIS_XQUAD_RU'] ?? join(root, '../shared/data/xquad-ru.json');

const sentencesOf = (text: string): readonly string[] =>
  text
    .split(/(?<=[.!?])\s+|\n{2,}/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 20);

function englishSentences(): readonly string[] {
  const folder = join(root, 'docs/design');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => sentencesOf(readFileSync(join(folder, file), 'utf8')));
}

function russianSentences(): readonly string[] {
  const { documents } = JSON.parse(readFileSync(russian, 'utf8')) as {
    readonly documents: readonly { text: string }[];
  };
  return documents.flatMap(({ text }) => sentencesOf(text));
}

/** Returns functions that tell whether a rule matches a text, without folds and with all folds. */
function matchersOf(rule: LocalRule): {
  readonly exact: (text: string) => boolean;
  readonly folded: (text: string) => boolean;
} {
  const test = (one: LocalRule): ((text: string) => boolean) => {
    const context = {
      stage: 'request',
      limits: defaultBundleLimits,
      matching: { kind: 'direct', figures: workedOut },
    } as const;
    const matcher = compileLocalRule(one, context);
    if ('reason' in matcher) throw new Error(`${rule.id}: ${matcher.reason}`);
    return (text) => matcher.passes.some((pass) => pass.find(checkedText(Buffer.from(text)), 1).length > 0);
  };
  const folded =
    rule.kind === 'stop_list'
      ? { ...rule, stopList: { ...rule.stopList, fold: [...folds] } }
      : { ...rule, regex: { ...rule.regex, fold: [...folds] } };
  return { exact: test(rule), folded: test(folded) };
}

/** Folds make scripts equal, so that rules that distinguish scripts cannot have folds. */
const tellScriptsApart = { file: 'language.yaml', rule: 'mixed-scripts' };

const policies = ['rule-pack', 'recipes', 'guarded-chat']
  .flatMap((folder) => readExamples(folder))
  .filter(({ file }) => file !== tellScriptsApart.file);
const rules = policies
  .flatMap(({ definition }) => [...rulesInOrder(definition.request), ...rulesInOrder(definition.response)])
  .filter(isLocal)
  .filter(({ id }) => id !== tellScriptsApart.rule)
  .map(matchersOf);

/** The sentences that a rule stops only with folds. */
const stoppedByFolds = (sentences: readonly string[]): readonly string[] =>
  sentences.filter((sentence) => rules.some(({ exact, folded }) => folded(sentence) && !exact(sentence)));

test('with all folds, the shipped rules stop at most 1 in 1,000 further sentences of English prose', () => {
  const sentences = englishSentences();
  expect(sentences.length).toBeGreaterThan(700);
  expect(stoppedByFolds(sentences).length).toBeLessThanOrEqual(sentences.length / 1_000);
});

/** A skipped test has its reason at the end of its title. */
const missing = existsSync(russian) ? '' : ' (needs XQuAD-ru: PORTCULLIS_XQUAD_RU names the file)';

test.skipIf(missing !== '')(
  `with all folds, the shipped rules stop at most 1 in 1,000 further sentences of Russian prose${missing}`,
  () => {
    const sentences = russianSentences();
    expect(sentences.length).toBeGreaterThan(1_000);
    expect(stoppedByFolds(sentences).length).toBeLessThanOrEqual(sentences.length / 1_000);
  },
);
