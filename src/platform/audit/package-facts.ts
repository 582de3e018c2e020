import type { GenerateRequest } from './requests.ts';
import { type Census, limitationsOf } from './summary.ts';
import type { WireCheckpoint, WirePackageHead, WireStream, WireSummary } from './wire.ts';

export interface SettledFacts {
  packageId: string;
  stream: WireStream;
  period: WireSummary['period'];
  now: string;
  census: Census;
  /** Without their tokens. */
  anchors: WireCheckpoint[];
}

/** The package without its checkpoints and entries, which are read when somebody downloads them. */
export function headOf({ packageId, stream, period, now, census }: SettledFacts): Omit<WirePackageHead, 'checkpoints'> {
  return {
    format: 'evidence-package/1',
    package_id: packageId,
    stream,
    period,
    generated_at: now,
    entry_count: census.count,
    first_sequence: census.first?.sequence ?? null,
    last_sequence: census.last?.sequence ?? null,
    head_hash: census.last?.hash ?? null,
  };
}

export function summaryOf({ packageId, stream, period, census, anchors }: SettledFacts): WireSummary {
  return {
    package_id: packageId,
    stream_id: stream.stream_id,
    period,
    entry_count: census.count,
    first_sequence: census.first?.sequence ?? null,
    last_sequence: census.last?.sequence ?? null,
    head_hash: census.last?.hash ?? null,
    first_timestamp: census.first?.timestamp ?? null,
    last_timestamp: census.last?.timestamp ?? null,
    counts: census.counts,
    verification: { verified: stream.verified, last_checked_at: stream.last_checked_at },
    limitations: limitationsOf(stream, census, anchors),
  };
}

export function periodOf({ from, to }: GenerateRequest): WireSummary['period'] {
  return from || to ? { from: from ?? null, to: to ?? null } : null;
}
