import { isEvidenceError } from '../../core/errors.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import type { JsonAnswer } from './exchange.ts';
import { inPath } from './operations.ts';
import { type Page, readPages } from './pages.ts';
import type { Transport } from './transport.ts';

/** Client of a service that supplements are collected from. It does not interpret the answers. */
export class SupplementClient {
  /** Address, without a trailing slash. */
  readonly url: string;
  readonly #transport: Transport;

  constructor(transport: Transport, url: string) {
    this.#transport = transport;
    this.url = url.replace(/\/+$/, '');
  }

  /**
   * Yields the pages of a list.
   * @param keep receives each page as it arrived, before it is parsed. The bytes are valid until it returns.
   * @throws EvidenceError `service` if a page contains the API key, because it must not be archived.
   */
  async *pages(
    list: List,
    ids: Readonly<Record<string, string>>,
    filter: Readonly<Record<string, string>>,
    keep: (body: Uint8Array) => void,
  ): AsyncGenerator<Page> {
    const path = inPath(list.path, ids);
    const keepClean = (body: Uint8Array) => {
      this.#transport.refuseKey(this.url + path, Buffer.from(body).toString('utf8'));
      keep(body);
    };
    try {
      yield* readPages(this.#transport, this.url, { ...list, path }, filter, { keep: keepClean });
    } catch (error) {
      // A list may lead to an address that contains the key.
      if (isEvidenceError(error)) error.message = this.#transport.scrub(error.message);
      throw error;
    }
  }

  /** @param asStranger sends the request without the API key, as the public would. */
  document(path: string, ids: Readonly<Record<string, string>> = {}, asStranger = false): Promise<JsonAnswer> {
    const url = this.url + inPath(path, ids);
    return this.#transport.json({
      method: 'GET',
      url,
      repeatable: true,
      ...(asStranger ? { withoutKey: true } : {}),
    });
  }
}
