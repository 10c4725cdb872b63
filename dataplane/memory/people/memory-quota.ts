/** Configured limits of users and tenants (docs/remember-people.md, "Limits"). */
export type MemoryQuota = {
  /** Memories of one user that are neither deleted nor expired. */
  readonly userMemories: number;
  /** Users of one tenant about whom the service stores data. */
  readonly tenantUsers: number;
  /** Adds of one tenant that have not ended. */
  readonly tenantOpenEvents: number;
};

/** Every quota that a request or an add may reach; `user_index` is the share of the index for one user. */
export const quotaNames = [
  'user_open_events',
  'user_memories',
  'user_index',
  'user_sessions',
  'tenant_users',
  'tenant_open_events',
] as const;
export type QuotaName = (typeof quotaNames)[number];
