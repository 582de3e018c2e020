import { digestOf, readAlgorithm } from './algorithms.ts';
import { children, context, DerFields, type Element, malformed, readDer, TAG } from './der.ts';
import { type GeneralName, readGeneralName } from './names.ts';
import { readBoolean, readCount, readInteger, readOid, readTime } from './values.ts';

/** Maximum difference between `genTime` and the true time, either way; parts that the token leaves out are 0. */
export interface Accuracy {
  seconds: number;
  millis: number;
  micros: number;
}

/** Content that the authority signed: TSTInfo (RFC 3161 section 2.4.2). */
export interface TstInfo {
  policy: string;
  imprint: { algorithm: string; digest: Uint8Array };
  serial: bigint;
  /** Time of `genTimeText`, truncated to milliseconds. */
  genTime: Date;
  /** Time with all digits of its fraction, as signed. */
  genTimeText: string;
  accuracy: Accuracy | null;
  ordering: boolean;
  nonce: bigint | null;
  tsa: GeneralName | null;
}

const MAX_ACCURACY_SECONDS = 2 ** 31 - 1;

/**
 * @throws EvidenceError `unreadable` unless the bytes are the DER of a TSTInfo version 1, all of which is understood.
 */
export function readTstInfo(der: Uint8Array): TstInfo {
  const fields = new DerFields(sequence(der), 'TSTInfo');
  const version = readInteger(fields.take(TAG.integer, 'version'), 'the version of TSTInfo');
  if (version !== 1n) throw malformed(`TSTInfo is of version ${version}, not 1`);
  const policy = readOid(fields.take(TAG.oid, 'policy'), 'the policy');
  const imprint = readImprint(fields.take(TAG.sequence, 'messageImprint'));
  const serial = readInteger(fields.take(TAG.integer, 'serialNumber'), 'the serial number of the token');
  const time = readTime(fields.take(TAG.generalizedTime, 'genTime'), 'genTime');
  const accuracy = fields.optional(TAG.sequence);
  const ordering = fields.optional(TAG.boolean);
  const nonce = fields.optional(TAG.integer);
  const tsa = fields.optional(context(0));
  const extensions = fields.optional(context(1));
  fields.end();
  if (extensions !== undefined) refuseCritical(extensions);
  return {
    policy,
    imprint,
    serial,
    genTime: time.date,
    genTimeText: time.text,
    accuracy: accuracy === undefined ? null : readAccuracy(accuracy),
    ordering: ordering !== undefined && readBoolean(ordering, 'ordering'),
    nonce: nonce === undefined ? null : readInteger(nonce, 'the nonce'),
    tsa: tsa === undefined ? null : readTsa(tsa),
  };
}

function sequence(der: Uint8Array): Element {
  const root = readDer(der);
  if (root.tag !== TAG.sequence) throw malformed('TSTInfo is no SEQUENCE');
  return root;
}

function readImprint(element: Element): TstInfo['imprint'] {
  const fields = new DerFields(element, 'the message imprint');
  const algorithm = readAlgorithm(fields.take(TAG.sequence, 'algorithm'), 'the algorithm of the message imprint');
  const { content: digest } = fields.take(TAG.octetString, 'digest');
  fields.end();
  const bytes = digestOf(algorithm)?.bytes;
  if (bytes !== undefined && digest.length !== bytes)
    throw malformed(`the message imprint has ${digest.length} bytes where its algorithm makes ${bytes}`);
  return { algorithm, digest };
}

function readAccuracy(element: Element): Accuracy {
  const fields = new DerFields(element, 'the accuracy');
  const seconds = fields.optional(TAG.integer);
  const millis = fields.optional(0x80);
  const micros = fields.optional(0x81);
  fields.end();
  return {
    seconds: seconds === undefined ? 0 : readCount(seconds, MAX_ACCURACY_SECONDS, 'accuracy.seconds'),
    millis: millis === undefined ? 0 : readCount(millis, 999, 'accuracy.millis'),
    micros: micros === undefined ? 0 : readCount(micros, 999, 'accuracy.micros'),
  };
}

function readTsa(explicit: Element): GeneralName {
  const [name, ...more] = children(explicit);
  if (name === undefined || more.length > 0) throw malformed('the name of the authority is not one name');
  return readGeneralName(name);
}

/** Refuses critical extensions: none is defined that a verifier must know. */
function refuseCritical(extensions: Element): void {
  for (const extension of children(extensions)) {
    const fields = new DerFields(extension, 'an extension of TSTInfo');
    const oid = readOid(fields.take(TAG.oid, 'identifier'), 'the identifier of an extension of TSTInfo');
    const critical = fields.optional(TAG.boolean);
    fields.take(TAG.octetString, 'value');
    fields.end();
    if (critical !== undefined && readBoolean(critical, 'critical'))
      throw malformed(`TSTInfo has the critical extension ${oid}, which is not understood`);
  }
}
