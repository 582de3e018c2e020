/** Binds a digest to a time, by RFC 3161. */
export interface TimestampAuthority {
  /** `development`: built into the platform, and so no witness independent of it. */
  readonly kind: 'external' | 'development';
  readonly url: string;
  /**
   * @param digestHex a SHA-256 digest, 64 hex digits: the token's message imprint, as it is.
   * @returns `token`, the DER of a TimeStampResp (section 2.4.2), and the time it states.
   */
  stamp(digestHex: string): Promise<{ token: Uint8Array; genTime: Date }>;
}
