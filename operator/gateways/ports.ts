/** Tells which gateway replicas are running, whatever they report. After disposal nobody is told any more. */
export type GatewayReplicas = AsyncDisposable & {
  /**
   * Whether the process of the replica runs now; the name is the one of its report. A process that is just starting,
   * and a name that was never seen, do not run.
   */
  isAlive(replica: string): Promise<boolean>;
  /**
   * Has the listener called when a replica ceased to run, and when it began to, unless `isAlive` said so before; late or
   * twice. One listener at a time.
   */
  onChange(listener: (replica: string) => void): void;
};
