import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ConnectionOptions, connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currentIdentity, revokeCertificates } from '../../../../src/platform/agents/identity/identity-rows.ts';
import { IssuingPlace } from './issuing-place.ts';

let place: IssuingPlace;

beforeAll(async () => {
  place = await IssuingPlace.open();
});

afterAll(() => place.close());

type Party = Awaited<ReturnType<IssuingPlace['issued']>>;
type Kind = 'ecdsa' | 'ml_dsa_65';

/** Returns an agent's TLS options. */
async function credentials({ identity }: Party, kind: Kind) {
  const { private_keys_once: keys } = identity.quantum_identity;
  const { certificate } = identity;
  return {
    cert: kind === 'ecdsa' ? certificate.chain_pem : certificate.pq.chain_pem,
    key: keys[kind === 'ecdsa' ? 'ecdsa_p256' : 'ml_dsa_65'],
    ca: await place.issuer.published.certificates(kind),
    minVersion: 'TLSv1.3' as const,
  };
}

/** Checks the URI, because SPIFFE certificates have no host names. */
const isAgent =
  ({ agent }: Party) =>
  (_host: string, { subjectaltname }: PeerCertificate) =>
    subjectaltname === `URI:spiffe://platform.example/agents/${agent.agent_id}`
      ? undefined
      : new Error('somebody else');

/** Connects one agent to another. @returns the identity that each sees, or the reason of a failure. */
async function call(from: ConnectionOptions, to: Awaited<ReturnType<typeof credentials>>) {
  const server = createServer({ ...to, requestCert: true, rejectUnauthorized: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = new Promise<string>((resolve) => {
    server.on('secureConnection', (socket: TLSSocket) => {
      resolve(String(socket.getPeerCertificate().subjectaltname));
      socket.end('hello');
    });
    server.on('tlsClientError', (error) => resolve(`refused: ${error.message}`));
  });
  const socket = connect({ ...from, host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const heard = new Promise<string>((resolve) => {
    socket.on('data', (data) => resolve(`${socket.getProtocol()}: ${data}`));
    socket.on('error', (error) => resolve(`refused: ${error.message}`));
    socket.on('close', () => resolve('refused without a word'));
  });
  const outcome = { heard: await heard, accepted: await accepted };
  socket.destroy();
  server.close();
  return outcome;
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN X509 CRL-----\n${lines.join('\n')}\n-----END X509 CRL-----\n`;
}

describe.each(['ml_dsa_65', 'ecdsa'] as const)('two agents with certificates of %s', (kind) => {
  test('know each other over TLS 1.3', async () => {
    const [caller, called] = [await place.issued('Caller'), await place.issued('Called')];
    const client = { ...(await credentials(caller, kind)), checkServerIdentity: isAgent(called) };
    expect(await call(client, await credentials(called, kind))).toEqual({
      heard: 'TLSv1.3: hello',
      accepted: `URI:spiffe://platform.example/agents/${caller.agent.agent_id}`,
    });
  });

  test('one that says it is another one is refused', async () => {
    const [caller, called, other] = [await place.issued(), await place.issued(), await place.issued()];
    const client = { ...(await credentials(caller, kind)), checkServerIdentity: isAgent(other) };
    expect((await call(client, await credentials(called, kind))).heard).toBe('refused: somebody else');
  });

  test('one without a certificate of the authority is refused', async () => {
    const called = await place.issued();
    const { ca } = await credentials(called, kind);
    const client = { ca, checkServerIdentity: isAgent(called), minVersion: 'TLSv1.3' as const };
    expect((await call(client, await credentials(called, kind))).accepted).toContain('refused: ');
  });

  test('one whose certificate is revoked is refused by who has the list', async () => {
    const [caller, called] = [await place.issued(), await place.issued()];
    const file = kind === 'ecdsa' ? 'ecdsa' : 'ml-dsa-65';
    const list = async () => toPem(await place.issuer.published.revocationList(file));
    const client = { ...(await credentials(caller, kind)), checkServerIdentity: isAgent(called) };
    const server = await credentials(called, kind);
    // Node checks revocation lists with the machine's clock.
    place.now = Date.now();
    expect((await call({ ...client, crl: await list() }, server)).heard).toBe('TLSv1.3: hello');
    await revoke(called);
    expect((await call({ ...client, crl: await list() }, server)).heard).toBe('refused: certificate revoked');
  });
});

async function revoke({ agent }: Party): Promise<void> {
  const identity = await currentIdentity(place.database, agent.agent_no);
  if (identity === null) throw new Error('the agent has no identity');
  const why = { reason: 'cessationOfOperation' as const, now: new Date(place.now) };
  await place.database.write((transaction) => revokeCertificates(transaction, identity, why));
}
