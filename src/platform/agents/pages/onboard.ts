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
          postForm(asked, { fields: onceField(asked.form), submit: 'Onboard', instead }),
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
  'Onboarding issues an identity, two certificates, a vault, an audit stream and a passport. The private keys and the API key are shown only once, on the next page: be ready to store them where only the agent can read them.';

const AGAIN = markup`<p>The agent already has an identity. It gets new keys, certificates and a passport; the old ones are revoked at once. The agent is refused until it uses the new ones.</p>
`;

/** Renders the curl command for scripts that write the answer to a file, so that no key appears on a screen. */
function byCurl({ agent_id }: WireAgent, request: FastifyRequest): Markup {
  const command = curlCommand(request, { method: 'POST', path: agentsApi(agent_id, 'onboard') });
  return markup`${asCurl('curl', `umask 077\n${command} \\\n  -o onboarded.json`)}<p class="minor">The command writes the keys to a file that only you can read, without showing them.</p>
`;
}

const FOLDER = '~/.evidence-agent';
const USES: Readonly<Record<string, string>> = {
  ed25519: 'Ed25519, which signs its actions and proves its identity.',
  ml_dsa_65: 'ML-DSA-65, which does the same and resists quantum computers.',
  ecdsa_p256: 'ECDSA P-256, for the certificate that all tools support.',
};

function onboardedPage(agent: WireAgent, onboarded: Onboarded, now: Date): PageView {
  const { quantum_identity, api_key } = onboarded;
  const keys = Object.entries(quantum_identity.private_keys_once);
  const key = ([id, text]: readonly [string, string]) =>
    keep(`${id}.pem`, `The private key ${USES[id] ?? id}`, { id, words: `Private key ${id}`, text });
  const back = agentPath(agent.agent_id);
  return {
    title: 'Keys, shown once',
    above: aboveAgent(agent),
    introduction: markup`${name(agent.name)} is onboarded. Its private keys and its API key are shown only once: not even this platform can show them again. If they are lost, onboard the agent again.`,
    content: markup`<h2>Store the secrets</h2>
<p>Do this where the agent runs, as its user. Each command waits for input: paste the secret, then press Return and Ctrl-D. This keeps secrets out of the shell history.</p>
<ol class="steps">
<li><p>Create a folder that only the agent can read:</p>${copyable('folder', 'Create the folder', `umask 077 && mkdir -p ${FOLDER} && cd ${FOLDER}`)}</li>
${keys.map(key)}${keep('api-key', 'The API key, which reports actions of this agent only.', { id: 'api_key', words: 'API key', text: api_key })}<li><p>Check that there are ${plural(keys.length + 1, 'file')}, which nobody else can read:</p>${copyable('look', 'List the files', `ls -l ${FOLDER}`)}</li>
</ol>
<p>Never send them by mail or chat, and never put them into a repository or an image. Anyone who has them can act as this agent.</p>
${parts(onboarded, now)}<p class="further">${link(back, 'I have stored them')}</p>`,
  };
}

function keep(file: string, words: string, secret: { id: string; words: string; text: string }): Markup {
  return markup`<li><p>${words}</p>${copyable(`keep-${secret.id}`, `Store ${file}`, `cat > ${file}`)}<div class="secret">${copyable(secret.id, secret.words, secret.text)}</div></li>
`;
}

/** Renders the parts that can be shown again, and are also on the page of the agent. */
function parts({ quantum_identity, certificate, vault, audit_stream, passport }: Onboarded, now: Date): Markup {
  const facts = factList([
    ['Identity', markup`<code>${name(quantum_identity.did)}</code>`],
    ['Certificate', markup`<code>${certificate.serial}</code>`],
    ['Valid until', moment(certificate.not_after, now)],
    ['Post-quantum certificate', digest(certificate.pq.serial)],
    ['Passport', markup`<code>${name(passport.jti)}</code>`],
    ['Vault', markup`<code>${name(vault.vault_id)}</code>`],
    ['Audit stream', markup`<code>${name(audit_stream.stream_id)}</code>`],
  ]);
  return section('Issued', facts);
}
