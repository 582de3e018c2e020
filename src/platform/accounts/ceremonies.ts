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

/** The scope of passkeys (WebAuthn Level 3, section 4): one host name, and pages of one origin. */
interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * Browsers have passkeys at host names that are reached by HTTPS, and on the machine itself.
 * @param publicUrl where browsers reach the platform. Never what a request says: that may be anybody's.
 * @returns null where there can be none.
 */
export function relyingPartyOf(publicUrl: string | null): RelyingParty | null {
  const url = publicUrl === null ? null : URL.parse(publicUrl);
  if (url === null || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return null;
  const isHere = /(?:^|\.)localhost$/.test(url.hostname);
  return url.protocol === 'https:' || isHere ? { id: url.hostname, origin: url.origin } : null;
}

/** The answer of an authenticator, as the browser writes it (WebAuthn Level 3, `toJSON`). Nothing in it is trusted. */
export interface PasskeyAnswer {
  id: string;
  [member: string]: unknown;
}

/** Options for a browser that asks for a passkey or makes one. */
export type SigningOptions = PublicKeyCredentialRequestOptionsJSON;
export type MakingOptions = PublicKeyCredentialCreationOptionsJSON;

/**
 * The password is what the person knows, and the passkey is what they have: an authenticator verifies its user where it
 * can, and one that cannot is as good.
 */
const USER_VERIFICATION = 'preferred';

/** COSE (RFC 9053): EdDSA, ES256 and RS256, one of which every authenticator has. */
const ALGORITHMS = [-8, -7, -257];

/** As authenticators show it. */
const PARTY_NAME = 'Evidence platform';

/** The two ceremonies of WebAuthn: making a passkey (Level 3, section 7.1), and signing with it (7.2). */
export class Ceremonies {
  readonly #party: RelyingParty;

  constructor(party: RelyingParty) {
    this.#party = party;
  }

  /** @param existing passkeys of the person: an authenticator that has one of them makes no other. */
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
      // The person is known by then: no authenticator has to keep a list for us.
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

  /** The passkey that was made; null where the answer is not right. @param challenge that it answers. */
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

  /** Returns the count of the passkey's authenticator; null if the answer is wrong. @param challenge as for `made`. */
  async signed(
    { credential_id, public_key }: PasskeyRow,
    answer: PasskeyAnswer,
    challenge: string,
  ): Promise<number | null> {
    const { verifyAuthenticationResponse } = await library();
    const response = answer as unknown as AuthenticationResponseJSON;
    // The counters are compared by who knows what follows.
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

/** The challenge that an answer says it is for; null where it says none. */
export function challengeIn({ response }: PasskeyAnswer): string | null {
  try {
    const { clientDataJSON } = response as { clientDataJSON: string };
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge: unknown };
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}

/** It takes a while to load, and few need it. */
const library = () => import('@simplewebauthn/server');

/**
 * Refuses certificates, since the maker of an authenticator is not asked for. The library would fetch addresses in
 * them: nothing of this process goes out but by `outgoing/`.
 */
async function refuseCertificates({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(bytesOf(Buffer.from(response.attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  const isOwn = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isOwn) throw new Error('an attestation that was not asked for');
}

/** The library throws at what is not right. */
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

/** In memory of their own, as the library wants them. */
function bytesOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
