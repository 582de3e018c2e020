import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';
import { packageFile } from '../../core/install-paths.ts';
import { HttpProblem } from '../http/problem.ts';
import { PAGES } from './own-path.ts';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Files that pages load, with the templates that they are made from. */
const FILES = {
  'platform.css': ['charts.css', 'web/platform.css'],
  'platform.js': ['web/platform.js', 'web/passkeys.js'],
  'icon.svg': ['web/icon.svg'],
} as const;
type AssetName = keyof typeof FILES;

/** Number of hex digits of the digest in a file's name. */
const DIGITS = 16;

/** Files that pages load, each at an address with its digest, whose content never changes. */
export class Assets {
  readonly #files = new Map<string, { type: string; bytes: Buffer }>();
  readonly #urls = new Map<string, string>();

  static async read(): Promise<Assets> {
    const assets = new Assets();
    for (const name of Object.keys(FILES) as AssetName[]) {
      const read = await Promise.all(FILES[name].map((file) => readFile(packageFile(`templates/${file}`))));
      assets.#add(name, Buffer.concat(read));
    }
    return assets;
  }

  urlOf(name: AssetName): string {
    return this.#urls.get(name) ?? '';
  }

  /** Serves the files to everyone, with permission to cache them. */
  readonly routes: FastifyPluginAsync = async (server) => {
    server.get<{ Params: { file: string } }>(
      '/:file',
      { config: { public: true }, schema: { hide: true } },
      (request, reply) => {
        const file = this.#files.get(request.params.file);
        if (file === undefined) throw new HttpProblem(404, 'not_found', 'no such file exists');
        reply
          .header('cache-control', 'public, max-age=31536000, immutable')
          .header('x-content-type-options', 'nosniff');
        return reply.type(file.type).send(file.bytes);
      },
    );
  };

  #add(name: AssetName, bytes: Buffer): void {
    const extension = extname(name);
    const file = `${name.slice(0, -extension.length)}.${hash('sha256', bytes, 'hex').slice(0, DIGITS)}${extension}`;
    this.#files.set(file, { type: TYPES[extension] ?? 'application/octet-stream', bytes });
    this.#urls.set(name, `${PAGES}/assets/${file}`);
  }
}
