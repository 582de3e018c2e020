import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { insteadOfAct } from '../../web/acts.ts';
import { asCurl, copyable, digest, factList, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { onceField, postForm } from '../../web/fields.ts';
import { serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { section } from '../../web/sections.ts';
import { agentParamsSchema, type Onboarded, type WireAgent } from '../wire/agents.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

/** Serves the onboarding of an agent, which shows its private keys and its API key once. */
export function onboardPage(server: FastifyInstance, { service: { agents, onboarding }, clock }: AgentPageParts): void {
  serveForm(server, {
    path: '/agents/of/:agent_id/onboard',
    access: PROVED,
    params: agentParamsSchema,
    schema: z.object({ once: idempotencyKey }),
    async show(asked) {
      const agent = await agents.find(agentIdOf(asked.request));
      const instead = insteadOfAct(agentPath(agent.agent_id));
      return {
        title: `Onboard ${agent.name}`,
        isNarrow: true,
        above: aboveAgent(agent),
        introduction: INTRODUCTION,
        content: [
          agent.identity === null ? null : AGAIN,
          postForm(asked, { fields: onceField(asked.form), submit: 'Onboard it', instead }),
          byCurl(agent, asked.request),
        ],
      };
    },
    async act({ once }, request) {
      const id = agentIdOf(request);
      const onboarded = await onboarding.onboard(actorOf(principalOf(request)), id, once);
      return onboardedPage(await agents.find(id), onboarded, clock());
    },
  });
}

const INTRODUCTION =
  'It gets an identity, two certificates, a vault, an audit stream and a passport. Its private keys and its API key are shown once, on the next page: be ready to keep them where only the agent reads them.';

const AGAIN = markup`<p>It has an identity already. It gets new keys, certificates and a new passport. The old ones are revoked at once: what runs with them is refused until it has the new ones.</p>
`;

/** Renders the curl command for scripts that write the answer to a file, so that no key appears on a screen. */
function byCurl({ agent_id }: WireAgent, request: FastifyRequest): Markup {
  const command = curlCommand(request, { method: 'POST', path: agentsApi(agent_id, 'onboard') });
  return markup`${asCurl('curl', `umask 077\n${command} \\\n  -o onboarded.json`)}<p class="minor">The call writes the keys into a file that only you can read. They pass no screen.</p>
`;
}

const FOLDER = '~/.evidence-agent';
const USES: Readonly<Record<string, string>> = {
  ed25519: 'Ed25519, which signs its actions and its identity.',
  ml_dsa_65: 'ML-DSA-65, which does the same, and holds against quantum computers.',
  ecdsa_p256: 'ECDSA P-256, of the certificate that every tool reads.',
};

function onboardedPage(agent: WireAgent, onboarded: Onboarded, now: Date): PageView {
  const { quantum_identity, api_key } = onboarded;
  const keys = Object.entries(quantum_identity.private_keys_once);
  const key = ([id, text]: readonly [string, string]) =>
    keep(`${id}.pem`, `Its private key ${USES[id] ?? id}`, { id, words: `Private key ${id}`, text });
  const back = agentPath(agent.agent_id);
  return {
    title: 'Its keys, this once',
    above: aboveAgent(agent),
    introduction: markup`${name(agent.name)} is onboarded. Its private keys and its API key are shown this once: nobody can show them again, not even this platform. Who loses them onboards the agent again.`,
    content: markup`<h2>Keep its secrets</h2>
<p>Do this where the agent runs, as the user that it runs as. Each command waits for what you paste: paste it, then press Return and Ctrl-D. In this way no secret stands in the history of a shell.</p>
<ol class="steps">
<li><p>Make a folder that only the agent reads:</p>${copyable('folder', 'Make the folder', `umask 077 && mkdir -p ${FOLDER} && cd ${FOLDER}`)}</li>
${keys.map(key)}${keep('api-key', 'Its API key, with which it reports what it does. It can do so for this agent alone.', { id: 'api_key', words: 'API key', text: api_key })}<li><p>See that ${plural(keys.length + 1, 'file')} are there, and that nobody else can read them:</p>${copyable('look', 'Look at the files', `ls -l ${FOLDER}`)}</li>
</ol>
<p>Never send them by mail or chat, and never put them into a repository or an image. Who has them acts as this agent.</p>
${parts(onboarded, now)}<p class="further">${link(back, 'I have kept them')}</p>`,
  };
}

function keep(file: string, words: string, secret: { id: string; words: string; text: string }): Markup {
  return markup`<li><p>${words}</p>${copyable(`keep-${secret.id}`, `Keep ${file}`, `cat > ${file}`)}<div class="secret">${copyable(secret.id, secret.words, secret.text)}</div></li>
`;
}

/** Renders the parts that can be shown again, and are also on the page of the agent. */
function parts({ quantum_identity, certificate, vault, audit_stream, passport }: Onboarded, now: Date): Markup {
  const facts = factList([
    ['Identity', markup`<code>${name(quantum_identity.did)}</code>`],
    ['Certificate', markup`<code>${certificate.serial}</code>`],
    ['Good until', moment(certificate.not_after, now)],
    ['Post-quantum certificate', digest(certificate.pq.serial)],
    ['Passport', markup`<code>${name(passport.jti)}</code>`],
    ['Vault', markup`<code>${name(vault.vault_id)}</code>`],
    ['Audit stream', markup`<code>${name(audit_stream.stream_id)}</code>`],
  ]);
  return section('What it has now', facts);
}
