import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { timestampRequest } from '../../src/exporter/export/stamp.ts';
import { run, runToEnd } from './process.ts';

/** Key algorithms as `openssl req -newkey` expects them. */
const KEYS = {
  rsa2048: ['rsa:2048'],
  rsa3072: ['rsa:3072'],
  p256: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  p384: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  p521: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-521'],
} as const;
type KeyName = keyof typeof KEYS;

/** Chains from root to signer; each certificate is signed with its issuer's key and the digest beside it. */
const CHAINS: readonly (readonly [KeyName, 'sha256' | 'sha384' | 'sha512'])[][] = [
  [
    ['rsa3072', 'sha256'],
    ['rsa3072', 'sha256'],
  ],
  [
    ['p256', 'sha256'],
    ['p256', 'sha256'],
  ],
  [
    ['p384', 'sha384'],
    ['p384', 'sha512'],
    ['p384', 'sha384'],
  ],
  [
    ['rsa2048', 'sha512'],
    ['p256', 'sha256'],
    ['p521', 'sha256'],
  ],
  [
    ['p521', 'sha512'],
    ['rsa3072', 'sha384'],
    ['p384', 'sha256'],
    ['rsa2048', 'sha256'],
  ],
];

const DIGESTS = ['sha256', 'sha384', 'sha512'] as const;
/** Variations of an authority's replies other than the digest; each has a section in its configuration. */
const STYLES = [
  ['accuracy = secs:1, millisecs:500', 'clock_precision_digits = 3', 'ess_cert_id_alg = sha256'],
  ['ordering = yes', 'tsa_name = yes', 'clock_precision_digits = 6', 'ess_cert_id_alg = sha512'],
  ['accuracy = microsecs:20', 'ess_cert_id_chain = yes', 'ess_cert_id_alg = sha384'],
  ['tsa_name = yes', 'ess_cert_id_alg = sha1'],
] as const;

export interface FreshToken {
  der: Buffer;
  /** True for a token without TimeStampResp. */
  bare: boolean;
  digest: string;
  nonce: bigint;
  rootFile: string;
  /** Description for messages. */
  kind: string;
}

/** Creates timestamp authorities with several keys and chains, each by `openssl` in a separate folder. */
export async function createAuthorities(folder: string): Promise<string[]> {
  return Promise.all(CHAINS.map((chain, index) => createAuthority(join(folder, `authority-${index}`), chain)));
}

async function createAuthority(folder: string, chain: (typeof CHAINS)[number]): Promise<string> {
  await mkdir(folder, { recursive: true });
  const openssl = async (words: string[]) => run('openssl', words, folder);
  const last = chain.length - 1;
  for (const [index, [key, digest]] of chain.entries()) {
    const isSigner = index === last;
    const extensions = isSigner
      ? [
          'basicConstraints=critical,CA:FALSE',
          'keyUsage=critical,digitalSignature',
          'extendedKeyUsage=critical,timeStamping',
        ]
      : [`basicConstraints=critical,CA:TRUE,pathlen:${last - index - 1}`, 'keyUsage=critical,keyCertSign,cRLSign'];
    const subject = ['-subj', `/C=DE/O=Fresh ${folder.at(-1)}/CN=${isSigner ? 'Authority' : `CA ${index}`}`];
    const make = ['-newkey', ...KEYS[key], '-nodes', '-keyout', `${index}.key`, ...subject];
    if (index === 0) {
      const own = extensions.flatMap((extension) => ['-addext', extension]);
      await openssl(['req', '-x509', '-new', ...make, `-${digest}`, '-days', '30', ...own, '-out', '0.pem']);
      continue;
    }
    await openssl(['req', '-new', ...make, '-out', `${index}.csr`]);
    await writeFile(join(folder, `${index}.ext`), `${extensions.join('\n')}\n`);
    const above = ['-CA', `${index - 1}.pem`, '-CAkey', `${index - 1}.key`, '-CAcreateserial', `-${digest}`];
    const into = ['-days', '30', '-extfile', `${index}.ext`, '-out', `${index}.pem`];
    await openssl(['x509', '-req', '-in', `${index}.csr`, ...above, ...into]);
  }
  const above = await Promise.all(chain.slice(0, -1).map((_, index) => readFile(join(folder, `${index}.pem`), 'utf8')));
  await writeFile(join(folder, 'chain.pem'), above.toReversed().join(''));
  await writeFile(join(folder, 'ts.cnf'), configuration(folder, last));
  return folder;
}

function configuration(folder: string, signer: number): string {
  const common = [
    ...[`signer_cert = ${folder}/${signer}.pem`, `signer_key = ${folder}/${signer}.key`, `certs = ${folder}/chain.pem`],
    ...['crypto_device = builtin', 'default_policy = 1.3.6.1.4.1.99999.1', 'digests = sha256, sha384, sha512'],
  ];
  const sections = STYLES.flatMap((style, number) =>
    DIGESTS.flatMap((digest) => [
      `[${number}-${digest}]`,
      `serial = ${folder}/serial-${number}-${digest}`,
      ...[`signer_digest = ${digest}`, ...common, ...style],
    ]),
  );
  return `${sections.join('\n')}\n`;
}

/** Returns the `number`-th token, over its own digest; kinds repeat only after all were used. */
export async function freshToken(authorities: readonly string[], number: number): Promise<FreshToken> {
  const folder = authorities[number % authorities.length] ?? '';
  const imprint = DIGESTS[number % 3] ?? 'sha256';
  const signerDigest = DIGESTS[Math.floor(number / 3) % 3] ?? 'sha256';
  const style = Math.floor(number / 2) % STYLES.length;
  const bare = number % 2 === 1;
  const digest = createHash(imprint).update(`token ${number}`).digest('hex');
  const nonce = BigInt(`0x${createHash('sha256').update(`nonce ${number}`).digest('hex').slice(0, 16)}`) + 1n;
  const [query, reply, serial] = ['tsq', 'tsr', 'serial'].map((ending) => join(folder, `token-${number}.${ending}`));
  if (query === undefined || reply === undefined || serial === undefined)
    throw new Error('three names make three files');
  // openssl does not lock its serial file, so each reply has its own section and configuration.
  const config = (await readFile(join(folder, 'ts.cnf'), 'utf8')).replaceAll(/^serial = .*$/gm, `serial = ${serial}`);
  await Promise.all([
    writeFile(query, timestampRequest(digest, nonce)),
    writeFile(serial, `${(number + 1).toString(16).padStart(4, '0')}\n`),
    writeFile(`${query}.cnf`, config),
  ]);
  const words = [
    'ts',
    '-reply',
    '-config',
    `${query}.cnf`,
    '-section',
    `${style}-${signerDigest}`,
    '-queryfile',
    query,
  ];
  await run('openssl', [...words, ...(bare ? ['-token_out'] : []), '-out', reply]);
  const kind = `${folder.split('/').at(-1)}, imprint ${imprint}, signed with ${signerDigest}, style ${style}`;
  return { der: await readFile(reply), bare, digest, nonce, rootFile: join(folder, '0.pem'), kind };
}

export interface OpensslQuestion {
  digest: string;
  rootFile: string;
  untrustedFile?: string;
  bare: boolean;
  /** Time of the token, in whole seconds. */
  at: Date;
}

/** True if `openssl ts -verify` accepts a token in a file. */
export async function opensslAccepts(file: string, question: OpensslQuestion): Promise<boolean> {
  const { digest, rootFile, untrustedFile, bare, at } = question;
  const token = ['-in', file, ...(bare ? ['-token_in'] : [])];
  const trust = ['-CAfile', rootFile, ...(untrustedFile === undefined ? [] : ['-untrusted', untrustedFile])];
  const time = ['-attime', String(Math.floor(at.getTime() / 1000))];
  const words = ['ts', '-verify', '-digest', digest, ...token, ...trust, ...time];
  const { code, stderr } = await runToEnd('openssl', words, { cwd: dirname(file) });
  if (code !== 0 && code !== 1) throw new Error(`openssl ended with ${code}: ${stderr}`);
  return code === 0;
}

/** Runs `work` on all items with bounded concurrency, and returns the results in order. */
export async function eachOf<T, R>(
  items: readonly T[],
  atATime: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const lane = async () => {
    for (const [index, item] of entries) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  return results;
}
