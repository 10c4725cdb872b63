import { PortError } from '#flow/engine/flow-error';

/** The grants of the runs in progress. A run without a grant has no entry. The entry is removed when the run ends. */
export class RunGrants {
  readonly #held = new Map<string, string>();

  start(runId: string, grant: string | undefined): void {
    if (grant !== undefined) this.#held.set(runId, grant);
  }

  end(runId: string): void {
    this.#held.delete(runId);
  }

  has(runId: string): boolean {
    return this.#held.has(runId);
  }

  /** @throws PortError forbidden for a run without a grant */
  of(runId: string): string {
    const grant = this.#held.get(runId);
    if (grant === undefined) throw new PortError('forbidden');
    return grant;
  }
}
