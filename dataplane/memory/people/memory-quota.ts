/** Configured limits of users and tenants (docs/remember-people.md, "Limits"). */
export type MemoryQuota = {
  /** Maximum number of memories of one user that are neither deleted nor expired. */
  readonly userMemories: number;
  /** Maximum number of users of one tenant about whom the service stores data. */
  readonly tenantUsers: number;
  /** Maximum number of adds of one tenant that have not ended. */
  readonly tenantOpenEvents: number;
};

/** The names of all quotas; `user_index` is the share of the index that one user may use. */
export const quotaNames = [
  'user_open_events',
  'user_memories',
  'user_index',
  'user_sessions',
  'tenant_users',
  'tenant_open_events',
] as const;
export type QuotaName = (typeof quotaNames)[number];
