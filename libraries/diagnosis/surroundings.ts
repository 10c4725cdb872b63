/** A process of the installation. */
export type ProcessView = {
  readonly name: string;
  readonly ready: boolean;
  /** False if the replica is known to be frozen; absent otherwise. */
  readonly answering?: boolean;
  /** The reason why it is not ready, if known. */
  readonly problem?: string;
};

/** The operator and its replicas. */
export type OperatorView = {
  /** `unknown` when the caller is not allowed to read it. */
  readonly state: 'leading' | 'absent' | 'unknown';
  /** The state of the process as a phrase that follows a colon, without a capital. */
  readonly message: string;
  readonly holder?: string;
  /** The leader of the operator; absent when the Lease does not exist. */
  readonly lease?: string;
  readonly replicas: readonly ProcessView[];
};

/** A fault of the installation itself that no Portcullis resource reports. */
export type InstallationProblem = {
  /** The component that it stops. */
  readonly component:
    | 'storage'
    | 'operator'
    | 'gateway'
    | 'management'
    | 'postgres'
    | 'echo'
    | 'issuer'
    | 'retrieval'
    | 'worker'
    | 'memory'
    | 'memory-worker'
    | 'catalogue'
    | 'signin'
    | 'console';
  /** The faulty process or object, such as `Process gateway-1`. */
  readonly part: string;
  /** Machine-readable reason, which also selects the remedy. */
  readonly reason: string;
  readonly message: string;
};

/** The processes of the installation; `gateways` is absent when the caller is not allowed to read them. */
export type Surroundings = {
  readonly operator: OperatorView;
  readonly gateways?: readonly ProcessView[];
  /** Problems of the installation; a problem that causes others is listed before them. */
  readonly problems: readonly InstallationProblem[];
};
