import type { FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { copyable, digest, emptyState, factList, link, moment } from '../../web/components.ts';
import { apiOrigin } from '../../web/origin.ts';
import type { WireAgent } from '../wire/agents.ts';
import { passportWord } from './labels.ts';
import { publicApi } from './paths.ts';

/** The cryptographic identity of an agent: its certificates and passport, and their statements. */
export function identitySection(agent: WireAgent, now: Date, request: FastifyRequest): Markup {
  const { identity, composition } = agent;
  const head = markup`<h2>Identity</h2>\n`;
  if (identity === null)
    return markup`${head}${emptyState('It has none. Onboarding gives it keys, two certificates, a vault and a passport.')}`;
  const { did, certificate, passport, issued_at } = identity;
  const isSame = identity.composition === composition.sha256;
  return markup`${head}${factList([
    ['Identity', markup`<code>${name(did)}</code>`],
    ['Passport', passportWord(agent)],
    ['Passport is so since', moment(passport.status_changed_at, now)],
    ['Passport id', markup`<code>${name(passport.jti)}</code>`],
    ['Issued', moment(issued_at, now)],
    ['Certificates are good until', moment(certificate.not_after, now)],
    ['Serial, ECDSA P-256', markup`<code>${name(certificate.serial)}</code>`],
    ['Serial, ML-DSA-65', markup`<code>${name(certificate.pq.serial)}</code>`],
    ['Composition now', digest(composition.sha256)],
    [
      'Composition in its passport',
      isSame
        ? SAME[composition.changed_at === null ? 'still' : 'seen']
        : markup`${digest(identity.composition)}, another one`,
    ],
  ])}${details('certificate', 'Certificate, ECDSA P-256', certificate.pem)}${details('certificate-pq', 'Certificate, ML-DSA-65', certificate.pq.pem)}${details('passport', 'Passport', passport.jws)}${authorities(request)}`;
}

/** A model or version named in an action does not change the registered one. */
const SAME = { still: 'the same', seen: 'the same; an action named another model or version' };

function details(id: string, words: string, text: string): Markup {
  return markup`<details class="numbers"><summary>${words}</summary>${copyable(id, words, text)}</details>\n`;
}

/** The documents with which a stranger can check all of this without us. */
function authorities(request: FastifyRequest): Markup {
  const at = (...path: string[]) => `${apiOrigin(request)}${publicApi(...path)}`;
  const each = [
    ['CA certificate, ECDSA P-256', at('ca', 'ecdsa.pem')],
    ['CA certificate, ML-DSA-65', at('ca', 'ml-dsa-65.pem')],
    ['what is revoked, ECDSA P-256', at('crl', 'ecdsa.crl')],
    ['what is revoked, ML-DSA-65', at('crl', 'ml-dsa-65.crl')],
    ['status list', at('status-list')],
    ['keys that sign', at('jwks.json')],
  ] as const;
  return markup`<p class="minor">To check it without this platform: ${each.map(([words, path], index) => markup`${index === 0 ? '' : ' · '}${link(path, words)}`)}</p>
`;
}
