import { randomBytes } from 'node:crypto';
import { decoyOrigin } from './drawn.ts';
import type { TrapType } from './type.ts';

/** The path at which the platform itself takes calls of web bugs. */
const CALLBACK_PATH = '/traps/t';

/** An address that nobody calls who was not given it: in a document, a page, a message. */
export const webBug: TrapType = {
  type: 'web_bug',
  decoy: 'web',
  needsDecoy: false,
  async make({ decoy, publicUrl }) {
    const token = randomBytes(15).toString('base64url');
    const base = decoy === null ? `${publicUrl}${CALLBACK_PATH}` : `${decoyOrigin(decoy)}/assets`;
    const url = `${base}/${token}.gif`;
    return {
      credential: { url, token },
      artifact: {
        filename: 'pixel.html',
        content: `<img src="${url}" alt="" width="1" height="1">\n`,
        instructions:
          'Put the line into a page or a document that shows pictures from the web, or plant the address itself where somebody may try it.',
      },
      marks: [{ kind: 'path', value: token }],
      channels: ['http'],
      knownAs: url.replace(token, `${token.slice(0, 4)}…`),
    };
  },
};
