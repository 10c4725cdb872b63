import type { IngestPorts } from './ingest-ports.ts';

/** Ports that note whether chunks were written, which a later attempt keeps. */
export function watchProgress(ports: IngestPorts): {
  readonly ports: IngestPorts;
  readonly hasProgress: () => boolean;
} {
  let isWritten = false;
  const onStep: IngestPorts['onStep'] = (step) => {
    if (step === 'written') isWritten = true;
    return ports.onStep(step);
  };
  return { ports: { ...ports, onStep }, hasProgress: () => isWritten };
}
