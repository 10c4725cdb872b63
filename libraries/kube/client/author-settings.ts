import { setting } from '#kit/env/read-environment';

/** Settings of a process that records who changed a resource of a cluster. */
export const authorSettings = {
  PORTCULLIS_CHANGE_AUTHORS: setting.choice({
    help: 'cluster: admission if the MutatingAdmissionPolicies of the chart are in force and name the user who makes a change; stated if authors are only those whom clients state',
    choices: ['stated', 'admission'],
    default: 'stated',
  }),
};
