import { type Signed, toSigned } from '../signature/envelope.ts';
import { recordPieces } from './record-bytes.ts';

/**
 * A record as it is signed: the bytes of `recordPieces`, of which the text is never there as a whole.
 * @param payloadType a media type. @param levels see `recordPieces`.
 */
export function toSignedRecord(payloadType: string, record: object, levels?: number): Signed {
  let bytes = 0;
  for (const piece of recordPieces(record, levels)) bytes += Buffer.byteLength(piece);
  return toSigned(payloadType, bytes, recordPieces(record, levels), 'utf8');
}
