/** Interface of the audit service for other services: the entries that they append, and their places. */
export {
  type AuditLog,
  type EntryPlace,
  entriesOfStream,
  entryPlaceSchema,
  type KeptEntryPlace,
  keptPlace,
  type OwnEntry,
  openAuditLog,
  placeToWire,
} from './log.ts';
export { entrySchema, type WireEntry } from './wire.ts';
