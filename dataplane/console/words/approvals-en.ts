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
  approved: (person: string, requester: string) => `Approved by ${person}. ${requester} can now repeat the command.`,
  repeat: 'It is approved. You can now repeat the command.',
  own: 'You requested this. Another person must approve it.',
  needs: {
    applier: 'It needs the role applier for this model.',
    author: 'It needs the role author for this policy.',
  },
  none: 'No command waits for an approval',
  noneText: 'To require approvals for a model, an administrator runs: portcullis approval require --model NAME',
};

export type ApprovalWords = typeof approvalsEn;
