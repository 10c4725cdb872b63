/** Which gateway replicas are running, independent of their reports. Disposing stops the notifications. */
export type GatewayReplicas = AsyncDisposable & {
  /**
   * Whether the process of the replica runs; the name is that of its report. False for a starting process and for an
   * unknown name.
   */
  isAlive(replica: string): Promise<boolean>;
  /**
   * Sets the listener, which is called when a replica stopped, and when it started unless `isAlive` returned true
   * before. Calls may be late or repeated.
   */
  onChange(listener: (replica: string) => void): void;
};
