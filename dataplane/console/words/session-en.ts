/** Words of pages for a write whose session has ended or is another session, in English. */
export const sessionEn = {
  endedPage: 'Nothing was changed. Sign in again and repeat the action.',
  endedQuery: 'The sign-in opens now, and returns to this page.',
  endedTyped:
    'Nothing was changed. What you have typed is below. Copy it, sign in in another tab, and repeat the action.',
  endedEditor:
    'Nothing was saved. What you have typed is below. Sign in in another tab, then choose “Continue” on this page.',
  typed: 'What you have typed',
  continue: 'Continue',
  other: 'This page belongs to an earlier sign-in',
  otherPage: 'Nothing was changed. Open the page again and repeat the action.',
  otherTyped: 'Nothing was changed. What you have typed is below. Copy it, open the page again and repeat the action.',
  otherEditor: 'Nothing was saved. Read the definition, then save it again: this page is of the present sign-in.',
};

export type SessionWords = typeof sessionEn;
