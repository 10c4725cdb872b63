/** Words of the form editor of policies, in English. */
export const formEn = {
  asForm: 'Edit as a form',
  asYaml: 'Edit as YAML',
  noForm: 'This text cannot be shown as a form',
  noFormText:
    'Correct the problem that the check names first. A policy with more than 200 rules, or with terms of several lines, is edited as YAML.',
  name: 'Name',
  description: 'Description',
  sections: {
    shared: 'Rules for questions and answers',
    request: 'Rules for questions',
    response: 'Rules for answers',
  },
  deadlines: { request: 'Time for all rules of a question, ms', response: 'Time for all rules of an answer, ms' },
  addTerms: 'Add a list of terms',
  addPattern: 'Add a pattern',
  remove: 'Remove the rule',
  none: 'No rule yet.',
  kinds: {
    stop_list: 'List of terms',
    regex: 'Pattern (RE2)',
    external_pipeline: 'Detector',
    llm_classifier: 'Classifier',
  },
  rule: (kind: string, id: string) => (id === '' ? `${kind}: new` : `${kind}: ${id}`),
  id: 'Id of the rule',
  mode: 'Runs',
  modes: {
    always: 'always, decides',
    enforce: 'after the others, decides',
    observe: 'after the others, is counted only',
  },
  timeoutMs: 'Time, ms',
  action: 'A match',
  actions: { deny: 'denies the text', mask: 'is replaced' },
  replacement: 'Replacement',
  terms: 'Terms, one in each line',
  pattern: 'Pattern',
  match: 'A term matches',
  matches: { token: 'whole words', substring: 'parts of words too' },
  caseSensitive: 'Letter case',
  cases: { false: 'does not matter', true: 'must be equal' },
  kept: 'Also set, and edited as YAML',
};

export type FormWords = typeof formEn;
