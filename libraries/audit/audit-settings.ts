import { setting } from '#kit/env/read-environment';

/** Settings of every service that writes the audit log. */
export const auditSettings = {
  PORTCULLIS_AUDIT_DAYS: setting.integer({
    help: 'how long entries of the audit log are kept, days',
    min: 1,
    max: 36_500,
    default: 400,
  }),
};
