import type { Archive } from '../../../archive/archive.ts';
import type { Check } from '../../../check.ts';
import type { CommandContext } from '../../command.ts';
import type { StoreSettings } from '../store-settings.ts';

/** Archive as configured. */
export interface NamedArchive {
  url: string;
  store: StoreSettings;
}

/** Parts of a command that its archive needs. */
export type Caller = Pick<CommandContext, 'directory' | 'signal'> & Partial<Pick<CommandContext, 'printer'>>;

/** Flags that apply to some stores only. */
export type StoreFlag = 'endpoint' | 'region' | 'legal-hold' | 'kms-key';

/** Kind of store for archives: the interface through which commands use it. */
// Over ten members: it is the port through which commands use every store.
export interface Store {
  /** Scheme of its addresses, in lowercase. */
  scheme: string;
  /** Form of its addresses, for error messages. */
  form: string;
  /** Description of an archive in this store. */
  archive: string;
  flags: readonly StoreFlag[];
  /**
   * True for a store that is not a local disk: addresses refer to archives, not to files, and several objects are
   * fetched concurrently.
   */
  isRemote: boolean;
  /** Normalizes an address, so that all addresses of one place are equal. */
  locate(address: string, directory: string): string;
  /** Opens an existing archive; null if there is none. */
  open(named: NamedArchive, caller: Caller): Promise<Archive | null>;
  /** Opens the archive, and creates it if necessary. */
  make(named: NamedArchive, caller: Caller): Promise<Archive>;
  /** Checks that `make` would succeed, as far as possible without writing. @throws EvidenceError as `make` would. */
  checkForWriting(named: NamedArchive, caller: Caller): Promise<void>;
  /** Returns the doctor's checks of the archive. */
  check(named: NamedArchive, caller: Caller): Promise<Check[]>;
  /** Returns what `evidence init` writes for the store. @throws EvidenceError for an address that it cannot write. */
  setUp(address: string): SetUp;
}

/** Files that `evidence init` writes, as templates in `templates/deploy`. */
interface SetUp {
  /** Template for evidence.yaml after the address; null for none. */
  settings: string | null;
  /** Templates of the separate JSON files in `deploy/`. */
  files: readonly string[];
  /** Values for the templates, besides those from the flags of init. */
  values: Readonly<Record<string, string>>;
}
