import { verify, X509Certificate } from 'node:crypto';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { createMLDSA65 } from '@oqs/liboqs-js';
import { type BitString, fromBER, type Sequence } from 'asn1js';
import { run, runToEnd } from '../../../support/process.ts';

/** A certificate or list that an authority signed, parsed without the platform's code. */
export interface Signed {
  /** Signed bytes. */
  tbs: Uint8Array;
  signature: Uint8Array;
  /** Dotted object identifier. */
  algorithm: string;
  /** True if parameters are present; RFC 9881 section 2 requires their absence. */
  hasParameters: boolean;
}

export function toDer(pem: string): Uint8Array {
  return new X509Certificate(pem).raw;
}

export function takenApart(der: Uint8Array): Signed {
  const [tbs, algorithm, signature] = childrenOf(der);
  if (tbs === undefined || algorithm === undefined || signature === undefined) throw new Error('not three parts');
  const [identifier, ...parameters] = algorithm.valueBlock.value;
  return {
    tbs: new Uint8Array(tbs.valueBeforeDecodeView),
    signature: new Uint8Array((signature as unknown as BitString).valueBlock.valueHexView),
    algorithm: String(identifier?.valueBlock),
    hasParameters: parameters.length > 0,
  };
}

function childrenOf(der: Uint8Array): Sequence[] {
  const { result } = fromBER(new Uint8Array(der).buffer);
  return (result as Sequence).valueBlock.value as Sequence[];
}

/** Returns an authority's key, the last 1952 bytes of its SubjectPublicKeyInfo. */
function keyBytes(authorityPem: string): Uint8Array {
  const spki = new X509Certificate(authorityPem).publicKey.export({ type: 'spki', format: 'der' });
  return Uint8Array.from(spki.subarray(-1952));
}

/** Verifiers that take signed DER and decide whether the authority signed it. */
export const ML_DSA_JUDGES: readonly {
  name: string;
  isSigned(der: Uint8Array, authorityPem: string): Promise<boolean>;
}[] = [
  {
    name: '@noble/post-quantum',
    async isSigned(der, authorityPem) {
      const { signature, tbs } = takenApart(der);
      return ml_dsa65.verify(signature, tbs, keyBytes(authorityPem));
    },
  },
  {
    name: '@oqs/liboqs-js',
    async isSigned(der, authorityPem) {
      const { signature, tbs } = takenApart(der);
      const judge = await createMLDSA65();
      const holds = judge.verify(tbs, signature, keyBytes(authorityPem));
      judge.destroy();
      return holds;
    },
  },
  {
    name: 'Node',
    async isSigned(der, authorityPem) {
      const { signature, tbs } = takenApart(der);
      return verify(null, tbs, new X509Certificate(authorityPem).publicKey, signature);
    },
  },
];

const PYTHON = `
import base64, sys
from cryptography import x509
from cryptography.exceptions import InvalidSignature
key = x509.load_pem_x509_certificate(sys.argv[1].encode()).public_key()
for words in sys.argv[2:]:
    kind, der = words.split(':')
    der = base64.b64decode(der)
    if kind == 'certificate':
        read = x509.load_der_x509_certificate(der)
        signed = read.tbs_certificate_bytes
    else:
        read = x509.load_der_x509_crl(der)
        signed = read.tbs_certlist_bytes
    try:
        key.verify(read.signature, signed)
        print('signed')
    except InvalidSignature:
        print('not signed')
`;

/** True if Python has a cryptography package with ML-DSA; it parses whole certificates and lists. */
export async function pythonKnowsMlDsa(): Promise<boolean> {
  const words = ['-c', 'from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PublicKey'];
  const { code } = await runToEnd('python3', words, { cwd: '/' }).catch(() => ({ code: null }));
  return code === 0;
}

/** Returns Python's verdicts on certificates and lists, in their order. */
export async function askPython(
  authorityPem: string,
  signed: readonly (readonly ['certificate' | 'list', Uint8Array])[],
): Promise<string[]> {
  const words = signed.map(([kind, der]) => `${kind}:${Buffer.from(der).toString('base64')}`);
  return (await run('python3', ['-c', PYTHON, authorityPem, ...words])).trim().split('\n');
}
