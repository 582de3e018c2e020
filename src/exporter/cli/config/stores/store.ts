import type { Archive } from '../../../archive/archive.ts';
import type { Check } from '../../../check.ts';
import type { CommandContext } from '../../command.ts';
import type { StoreSettings } from '../store-settings.ts';

/** An archive as the configuration names it. */
export interface NamedArchive {
  url: string;
  store: StoreSettings;
}

/** The parts of a command that its archive needs. */
export type Caller = Pick<CommandContext, 'directory' | 'signal'> & Partial<Pick<CommandContext, 'printer'>>;

/** The flags that only some stores have a use for. */
export type StoreFlag = 'endpoint' | 'region' | 'legal-hold' | 'kms-key';

/** A kind of store that archives are kept in: all that commands know of it. */
// Over ten members: it is the port through which commands use every store.
export interface Store {
  /** Before `://` in its addresses, in small letters. */
  scheme: string;
  /** The form of its addresses, for whoever gave another one. */
  form: string;
  /** An archive in it, in words. */
  archive: string;
  flags: readonly StoreFlag[];
  /** Elsewhere than on this disk: an address names an archive and no file, and several objects are fetched at a time. */
  isRemote: boolean;
  /** The same for all addresses of one place. */
  locate(address: string, directory: string): string;
  /** The archive that is there; null for none. */
  open(named: NamedArchive, caller: Caller): Promise<Archive | null>;
  /** The archive, which is made where there is none. */
  make(named: NamedArchive, caller: Caller): Promise<Archive>;
  /** Checks that `make` could, as far as can be told without writing. @throws EvidenceError as `make` would. */
  checkForWriting(named: NamedArchive, caller: Caller): Promise<void>;
  /** Returns what the doctor says of it. */
  check(named: NamedArchive, caller: Caller): Promise<Check[]>;
  /** Returns what `evidence init` writes for it. @throws EvidenceError for an address that it cannot write down. */
  setUp(address: string): SetUp;
}

/** Templates of `templates/deploy`. */
interface SetUp {
  /** The template for evidence.yaml after the address; null for none. */
  settings: string | null;
  /** The templates of JSON files of their own, in `deploy/`. */
  files: readonly string[];
  /** The values that they are filled in with, besides those of the flags of init. */
  values: Readonly<Record<string, string>>;
}
