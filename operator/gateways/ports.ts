/** A running replica; the origin of its admin address is absent while it is not known. */
export type ReplicaAdmin = { readonly replica: string; readonly origin: string | undefined };

/** Which gateway replicas are running, independent of their reports. Disposing stops the notifications. */
export type GatewayReplicas = AsyncDisposable & {
  /**
   * Whether the process of the replica runs; the name of a replica is the name of its report. False for a starting
   * process and for an unknown name.
   */
  isAlive(replica: string): Promise<boolean>;
  /** The running replicas, ordered by name, with the origins of their admin addresses. */
  admins(): Promise<readonly ReplicaAdmin[]>;
  /**
   * Sets the listener, which is called when a replica stopped, and when it started unless `isAlive` returned true
   * before. Calls may be late or repeated.
   */
  onChange(listener: (replica: string) => void): void;
};
