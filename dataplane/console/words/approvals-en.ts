/** Words of the page about approvals, in English. */
export const approvalsEn = {
  title: 'Approvals',
  intro: 'Commands that wait for the approval of a second person, or have it and were not repeated yet.',
  kinds: {
    'binding.apply': 'Apply a policy',
    'binding.unbind': 'Remove the policy',
    'policy.archive': 'Archive a policy',
  },
  askedBy: 'Asked by',
  approvedBy: 'Approved by',
  expires: 'Expires',
  version: 'Version',
  approval: 'Approval',
  approve: 'Approve',
  approved: (person: string, requester: string) => `Approved by ${person}: ${requester} repeats the command.`,
  repeat: 'It is approved: repeat the command.',
  own: 'You asked for it: another person approves it.',
  needs: {
    applier: 'It needs the role applier for this model.',
    author: 'It needs the role author for this policy.',
  },
  none: 'No command waits for an approval',
  noneText: 'An administrator requires approvals for a policy or a model: portcullis approval require --model NAME',
};

export type ApprovalWords = typeof approvalsEn;
