/** Words for changes that another person made after a page was opened, in English. */
export const conflictsEn = {
  model: 'The model has changed since the page was opened',
  modelText: (policy: string, revision: string) => `It now has revision ${revision} of ${policy}. Nothing was applied.`,
  modelNone: 'It now has no policy. Nothing was applied.',
  applyInPlace: (revision: string) => `Apply revision ${revision} in its place`,
  policy: (revision: number) => `Revision ${revision} was saved since the page was opened`,
  policyText: 'Nothing was saved. Below are that revision and your definition, which would replace it.',
  yours: 'Your definition',
  sameAsYours: 'Your definition is that of the saved revision.',
  saveOnTop: (revision: number) => `Save on top of revision ${revision}`,
  backToPolicy: 'Back to the policy',
};

export type ConflictWords = typeof conflictsEn;
