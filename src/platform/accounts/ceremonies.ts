import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from '@simplewebauthn/server';
import { CHALLENGE_MS } from './challenges.ts';
import type { PasskeyRow, PersonRow } from './person-rows.ts';

/** Relying party of passkeys (WebAuthn Level 3, section 4): one host name, and pages of one origin. */
interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * Returns the relying party; null if passkeys are not possible. Browsers support passkeys at host names with HTTPS, and
 * on localhost.
 * @param publicUrl public address of the platform, never taken from a request, which could claim any address.
 */
export function relyingPartyOf(publicUrl: string | null): RelyingParty | null {
  const url = publicUrl === null ? null : URL.parse(publicUrl);
  if (url === null || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return null;
  const isHere = /(?:^|\.)localhost$/.test(url.hostname);
  return url.protocol === 'https:' || isHere ? { id: url.hostname, origin: url.origin } : null;
}

/** Untrusted answer of an authenticator, as the browser serializes it (WebAuthn Level 3, `toJSON`). */
export interface PasskeyAnswer {
  id: string;
  [member: string]: unknown;
}

/** Options for a browser to use or create a passkey. */
export type SigningOptions = PublicKeyCredentialRequestOptionsJSON;
export type MakingOptions = PublicKeyCredentialCreationOptionsJSON;

/**
 * Preference for user verification. The password is the knowledge factor and the passkey the possession factor, so an
 * authenticator that cannot verify its user is accepted, too.
 */
const USER_VERIFICATION = 'preferred';

/** COSE algorithms (RFC 9053) EdDSA, ES256 and RS256; every authenticator supports one of them. */
const ALGORITHMS = [-8, -7, -257];

/** Name that authenticators show. */
const PARTY_NAME = 'Evidence platform';

/** Ceremonies of WebAuthn: registration (Level 3, section 7.1) and authentication (7.2). */
export class Ceremonies {
  readonly #party: RelyingParty;

  constructor(party: RelyingParty) {
    this.#party = party;
  }

  /** @param existing passkeys of the person; an authenticator that holds one of them does not create another. */
  async toMake(
    { person_id, email, name }: PersonRow,
    existing: readonly PasskeyRow[],
    challenge: Buffer,
  ): Promise<MakingOptions> {
    const { generateRegistrationOptions } = await library();
    return generateRegistrationOptions({
      rpID: this.#party.id,
      rpName: PARTY_NAME,
      timeout: CHALLENGE_MS,
      attestationType: 'none',
      userID: bytesOf(Buffer.from(person_id)),
      userName: email,
      userDisplayName: name,
      challenge: bytesOf(challenge),
      excludeCredentials: existing.map(toDescriptor),
      supportedAlgorithmIDs: ALGORITHMS,
      // The person is already identified, so authenticators need not store discoverable credentials.
      authenticatorSelection: { residentKey: 'discouraged', userVerification: USER_VERIFICATION },
    });
  }

  async toSign(passkeys: readonly PasskeyRow[], challenge: Buffer): Promise<SigningOptions> {
    const { generateAuthenticationOptions } = await library();
    return generateAuthenticationOptions({
      rpID: this.#party.id,
      timeout: CHALLENGE_MS,
      userVerification: USER_VERIFICATION,
      challenge: bytesOf(challenge),
      allowCredentials: passkeys.map(toDescriptor),
    });
  }

  /** Returns the new passkey; null if the answer is wrong. @param challenge that was sent. */
  async made(answer: PasskeyAnswer, challenge: string): Promise<WebAuthnCredential | null> {
    const { verifyRegistrationResponse } = await library();
    const response = answer as unknown as RegistrationResponseJSON;
    return orNull(async () => {
      await refuseCertificates(response);
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        ...this.#expected(challenge),
        supportedAlgorithmIDs: ALGORITHMS,
      });
      return registrationInfo?.credential ?? null;
    });
  }

  /**
   * Returns the signature counter of the passkey's authenticator; null if the answer is wrong. @param challenge as for
   * `made`.
   */
  async signed(
    { credential_id, public_key }: PasskeyRow,
    answer: PasskeyAnswer,
    challenge: string,
  ): Promise<number | null> {
    const { verifyAuthenticationResponse } = await library();
    const response = answer as unknown as AuthenticationResponseJSON;
    // Disables the library's comparison of counters; the caller compares them and acts on the result.
    const credential = { id: credential_id, publicKey: bytesOf(public_key), counter: 0 };
    return orNull(async () => {
      const expected = this.#expected(challenge);
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        credential,
        ...expected,
      });
      return verified ? authenticationInfo.newCounter : null;
    });
  }

  #expected(expectedChallenge: string) {
    const { id, origin } = this.#party;
    return { expectedChallenge, expectedOrigin: origin, expectedRPID: id, requireUserVerification: false };
  }
}

/** Returns the challenge that an answer claims to be for; null if it has none. */
export function challengeIn({ response }: PasskeyAnswer): string | null {
  try {
    const { clientDataJSON } = response as { clientDataJSON: string };
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge: unknown };
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}

/** Loaded on demand, because it is slow to load and rarely needed. */
const library = () => import('@simplewebauthn/server');

/**
 * Refuses certificates, because attestation is not requested. The library would fetch addresses in certificates, but
 * this process must only send requests through `outgoing/`.
 */
async function refuseCertificates({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(bytesOf(Buffer.from(response.attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  const isOwn = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isOwn) throw new Error('an attestation that was not asked for');
}

/** Returns null if the library rejects the answer by throwing. */
async function orNull<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

function toDescriptor({ credential_id, transports }: PasskeyRow) {
  return { id: credential_id, transports: JSON.parse(transports) as NonNullable<WebAuthnCredential['transports']> };
}

/** Copies bytes into a buffer of their own, as the library requires. */
function bytesOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
