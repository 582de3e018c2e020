import type { ServiceDescription } from '../http/openapi.ts';
import {
  checkpointSchema,
  entrySchema,
  generatedSchema,
  statsSchema,
  streamSchema,
  summarySchema,
  wireVerificationSchema,
} from './wire.ts';

export const AUDIT_DESCRIPTION: ServiceDescription = {
  title: 'Audit evidence chain',
  description:
    'Records a hash chain of audit entries, each sealed with an HMAC, anchors checkpoints at an RFC 3161 time-stamping authority and exports evidence packages. A stream is shown as verified only after Verify was run on it; nothing is checked again by itself.',
  schemas: {
    Entry: entrySchema,
    JsonValue: entrySchema.shape.metadata.valueType,
    Stream: streamSchema,
    Verification: wireVerificationSchema,
    Checkpoint: checkpointSchema,
    EvidencePackage: generatedSchema,
    EvidenceSummary: summarySchema,
    Statistics: statsSchema,
  },
};
