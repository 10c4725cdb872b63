import type { ManagementErrorCode } from '#contracts/management-errors';

export type Admission =
  | {
      readonly ok: true;
      /** Issuer and subject in one text; equal texts mean the same subject. */
      readonly subject: string;
    }
  | {
      readonly ok: false;
      readonly code: Extract<
        ManagementErrorCode,
        'unauthenticated' | 'permission_denied' | 'identity_unavailable' | 'authorization_unavailable'
      >;
    };

export type Access = {
  /** Who sends a request, and whether they may administer now; asked anew for every request. */
  admit(rawHeaders: readonly string[]): Promise<Admission>;
};
