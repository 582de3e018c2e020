import { sealedRows } from '../rows.ts';
import { ACCOUNT_TABLES } from './tables.ts';

/** Rows that give power: who has them may act. They are refused if they are not as the platform wrote them. */
export const sealedKeys = sealedRows(ACCOUNT_TABLES, 'api_keys', 'key_id', ['last_used_at']);
export const sealedPeople = sealedRows(ACCOUNT_TABLES, 'people', 'person_id', ['totp_step']);
export const sealedLinks = sealedRows(ACCOUNT_TABLES, 'links', 'link_id', []);
export const sealedSignUps = sealedRows(ACCOUNT_TABLES, 'sign_ups', 'sign_up_id', []);
export const sealedPasskeys = sealedRows(ACCOUNT_TABLES, 'passkeys', 'passkey_id', ['counter', 'last_used_at']);
export const sealedSessions = sealedRows(ACCOUNT_TABLES, 'sessions', 'sha256', ['seen_at']);

/** All of them, for checks. */
export const SEALED = [sealedKeys, sealedPeople, sealedLinks, sealedSignUps, sealedPasskeys, sealedSessions];
